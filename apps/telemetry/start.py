"""Begin and end sending telemetry from a process, if the standard variables of OpenTelemetry ask for it."""

import os
import threading
from collections.abc import Callable, Iterable
from typing import Protocol

from prometheus_client.metrics_core import Metric

from apps.telemetry.counted_metrics import counted_metrics
from apps.telemetry.tracing import use_exporter

STOP_SECONDS = 2.0  # to send what is left when a process ends; a collector that is away must not hold it up
_ENDPOINT = "OTEL_EXPORTER_OTLP{}_ENDPOINT"


class _Sender(Protocol):
    def stop(self) -> None:
        """Send what is left."""


_senders: list[_Sender] = []


def wants(signal: str) -> bool:
    """Return True if the environment names a collector for a signal, TRACES or METRICS, and doesn't switch it off."""
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    if os.environ.get(f"OTEL_{signal}_EXPORTER", "otlp") != "otlp":
        return False
    return any(os.environ.get(_ENDPOINT.format(part)) for part in ("", f"_{signal}"))


def start_telemetry(*, collect: Callable[[], Iterable[Metric]]) -> None:
    """Send spans and metrics from this process on; `collect` returns the metrics. Forked processes call it again."""
    if wants("TRACES"):
        from apps.telemetry.otlp import OtlpSpans  # the SDK takes a tenth of a second and 20 MB to load

        spans = OtlpSpans()
        use_exporter(spans)
        _senders.append(spans)
    if wants("METRICS"):
        from apps.telemetry.otlp_metrics import OtlpMetrics

        _senders.append(OtlpMetrics(collect, may_send=counted_metrics().may_export))


def stop_telemetry() -> None:
    """Send what is left, within STOP_SECONDS."""
    use_exporter(None)
    ending = [threading.Thread(target=sender.stop, daemon=True) for sender in _senders]
    _senders.clear()
    for each in ending:
        each.start()
    for each in ending:
        each.join(STOP_SECONDS)
