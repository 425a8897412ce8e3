"""Prometheus metrics of evaluation: the figures of the latest week with labels, by project."""

from collections.abc import Iterator

from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from apps.pipeline.core.identifiers import Prefix, show
from apps.tuning.evaluation.figures import LATEST_WEEKS, labelled_weeks, latest_figures


def evaluation_metrics() -> Iterator[Metric]:
    """Yield precision, recall, zero-extraction rate and kappa; a project without labels in the last weeks has none.

    Needs the system scope.
    """
    precision = _gauge("precision", "Share of labelled memories that are true, current and useful")
    recall = _gauge("recall", "Estimated share of turns with something worth storing that gave a memory")
    zero = _gauge("zero_extraction", "Share of the turns that passed the pre-filter and gave nothing")
    kappa = _gauge("kappa", "Cohen's kappa of the two labellers who share the most items", "kind")
    for project_id, found in labelled_weeks(weeks=LATEST_WEEKS).items():
        figures, project = latest_figures(found), show(Prefix.PROJECT, project_id)
        if figures is None:
            continue
        for gauge, value in (
            (precision, figures.precision.value),
            (recall, figures.recall.value),
            (zero, figures.zero_extraction.value),
        ):
            if value is not None:
                gauge.add_metric([project], value)
        for kind, agreement in figures.agreement.items():
            if agreement.kappa is not None:
                kappa.add_metric([project, kind], agreement.kappa)
    yield from (precision, recall, zero, kappa)


def _gauge(name: str, description: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(
        f"memplatform_evaluation_{name}", f"{description}, in the latest week with labels", labels=["project", *labels]
    )
