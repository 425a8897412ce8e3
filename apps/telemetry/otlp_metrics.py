"""Send the metrics of /metrics to an OpenTelemetry collector, under the same names and with the same meaning."""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics import export
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from prometheus_client.metrics_core import Metric
from prometheus_client.samples import Sample

from apps.telemetry.collector import ReportedMetricExporter
from apps.telemetry.otlp import resource

_log = logging.getLogger(__name__)

_USUAL_MILLISECONDS = 60_000
_START = 0  # unknown: counts outlive the processes that made them
_CUMULATIVE = export.AggregationTemporality.CUMULATIVE

Collect = Callable[[], Iterable[Metric]]


class OtlpMetrics:
    """A thread that sends what `collect` returns, every OTEL_METRIC_EXPORT_INTERVAL milliseconds.

    It begins as soon as `may_send` returns True: one of the processes that would all send the same does so.
    """

    def __init__(self, collect: Collect, *, may_send: Callable[[], bool]) -> None:
        self._collect = collect
        self._may_send = may_send
        self._exporter = ReportedMetricExporter(OTLPMetricExporter())
        self._seconds = int(os.environ.get("OTEL_METRIC_EXPORT_INTERVAL") or _USUAL_MILLISECONDS) / 1_000
        self._ended = threading.Event()
        self._fails = False
        threading.Thread(target=self._run, name="otlp-metrics", daemon=True).start()

    def stop(self) -> None:
        """Send nothing more."""
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.wait(self._seconds):
            self._send()

    def _send(self) -> None:
        """Send the metrics if it is up to this process; go on whatever fails, as no other takes over while it lives."""
        try:
            if self._may_send():
                self._exporter.export(metrics_data(self._collect()))
        except Exception:  # noqa: BLE001  (a damaged file of counts, a database that is away)
            if not self._fails:
                _log.exception("metrics can't be collected; none are sent until they can")
            self._fails = True
            return
        if self._fails:
            _log.warning("metrics are collected again")
        self._fails = False


def metrics_data(metrics: Iterable[Metric]) -> export.MetricsData:
    """Convert metrics of the Prometheus client; the suffix `_total` of counters is left out, as by collectors."""
    now = time.time_ns()
    converted = [_converted(metric, now) for metric in metrics if metric.samples]
    scope = export.ScopeMetrics(InstrumentationScope("memplatform"), converted, "")
    return export.MetricsData([export.ResourceMetrics(resource(), [scope], "")])


def _converted(metric: Metric, now: int) -> export.Metric:
    data: export.Gauge | export.Sum | export.Histogram
    if metric.type == "histogram":
        data = export.Histogram(list(_histogram_points(metric.samples, now)), _CUMULATIVE)
    else:
        points = [export.NumberDataPoint(each.labels, _START, now, each.value) for each in metric.samples]
        is_counter = metric.type == "counter"
        data = export.Sum(points, _CUMULATIVE, True) if is_counter else export.Gauge(points)
    return export.Metric(metric.name, metric.documentation, metric.unit, data)


def _histogram_points(samples: Iterable[Sample], now: int) -> Iterator[export.HistogramDataPoint]:
    series: dict[tuple[tuple[str, str], ...], list[Sample]] = {}
    for sample in samples:
        labels = {name: value for name, value in sample.labels.items() if name != "le"}
        series.setdefault(tuple(sorted(labels.items())), []).append(sample)
    for key, of_series in series.items():
        yield _histogram_point(dict(key), of_series, now)


def _histogram_point(labels: Mapping[str, str], samples: Iterable[Sample], now: int) -> export.HistogramDataPoint:
    """Convert one series: the buckets of Prometheus count what is below their bound, those of OTLP what is between."""
    buckets = sorted((float(each.labels["le"]), each.value) for each in samples if each.name.endswith("_bucket"))
    total = next(each.value for each in samples if each.name.endswith("_sum"))
    counts = [int(count) for _, count in buckets]
    between = [high - low for low, high in zip([0, *counts], counts, strict=False)]
    bounds = [bound for bound, _ in buckets[:-1]]  # the last is infinite
    unknown: float = None  # type: ignore[assignment]  # least and largest value, which the format need not have
    return export.HistogramDataPoint(
        dict(labels), _START, now, counts[-1], total, between, bounds, min=unknown, max=unknown
    )
