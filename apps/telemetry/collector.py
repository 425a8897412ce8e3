"""Whether the collector can be reached: one line of the log when that changes, instead of one for each try."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics.export import MetricExportResult, MetricsData
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

_log = logging.getLogger(__name__)


class CollectorReport:
    """Tells of the first failure to send something, and of the first success after failures."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._fails = False
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # which has a line for each try

    def note(self, *, sent: bool) -> None:
        """Note whether something was sent."""
        if not sent and not self._fails:
            _log.warning("the OpenTelemetry collector takes no %s; they are dropped until it does", self._what)
        if sent and self._fails:
            _log.warning("the OpenTelemetry collector takes %s again", self._what)
        self._fails = not sent


class ReportedSpanExporter(SpanExporter):
    """Sends spans."""

    def __init__(self, exporter: OTLPSpanExporter) -> None:
        self._exporter = exporter
        self._report = CollectorReport("spans")

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send spans, or drop them."""
        return _reported(lambda: self._exporter.export(spans), self._report, SpanExportResult.FAILURE)

    def shutdown(self) -> None:
        """Let go of connections."""
        self._exporter.shutdown()


class ReportedMetricExporter:
    """Sends metrics."""

    def __init__(self, exporter: OTLPMetricExporter) -> None:
        self._exporter = exporter
        self._report = CollectorReport("metrics")

    def export(self, metrics: MetricsData) -> MetricExportResult:
        """Send metrics, or drop them."""
        return _reported(lambda: self._exporter.export(metrics), self._report, MetricExportResult.FAILURE)


def _reported(send: Callable[[], Any], report: CollectorReport, failure: Any) -> Any:
    try:
        result = send()
    except Exception:  # noqa: BLE001  (whatever it is, requests must not notice)
        result = failure
    report.note(sent=result is not failure)
    return result
