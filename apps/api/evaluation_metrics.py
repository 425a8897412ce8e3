"""Prometheus metrics of evaluation: the figures of the latest week with labels, by project."""

from collections.abc import Iterator

from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from apps.actions.evaluation.read_figures import LabelledWeeks, first_week, labelled_weeks
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.evaluation.figures import EvaluationFigures, figures_of

WEEKS_BACK = 4  # a week that was labelled longer ago says nothing about now


def evaluation_metrics() -> Iterator[Metric]:
    """Yield precision, recall, zero-extraction rate and kappa; a project without labels in the last weeks has none.

    Needs the system scope.
    """
    precision = _gauge("precision", "Share of labelled memories that are true, current and useful")
    recall = _gauge("recall", "Estimated share of turns with something worth storing that gave a memory")
    zero = _gauge("zero_extraction", "Share of the turns that passed the pre-filter and gave nothing")
    kappa = _gauge("kappa", "Cohen's kappa of the two labellers who share the most items", "kind")
    for project_id, found in labelled_weeks(since=first_week(WEEKS_BACK)).items():
        figures, project = _latest(found), show(Prefix.PROJECT, project_id)
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


def _latest(found: LabelledWeeks) -> EvaluationFigures | None:
    week = max((item.week for item in found.items), default=None)
    if week is None:
        return None
    return figures_of(
        items=[item for item in found.items if item.week == week],
        counts=[each for each in found.counts if each.week == week],
    )


def _gauge(name: str, description: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(
        f"memplatform_evaluation_{name}", f"{description}, in the latest week with labels", labels=["project", *labels]
    )
