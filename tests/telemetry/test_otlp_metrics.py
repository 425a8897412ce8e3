"""The thread that sends metrics to a collector."""

import threading
from collections.abc import Iterable
from logging import LogRecord

import pytest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from apps.telemetry.otlp_metrics import OtlpMetrics
from tests.telemetry.otlp_collector import running_collector


def test_metrics_are_sent_again_after_they_could_not_be_collected(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """No other process would take over from one that lives."""
    tries: list[int] = []
    enough = threading.Event()

    def collect() -> Iterable[Metric]:
        tries.append(0)
        if len(tries) <= 2:
            raise OSError("a file of counts is damaged")
        if len(tries) == 5:
            enough.set()
        return [GaugeMetricFamily("depth", "a depth", value=1)]

    with running_collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", f"http://127.0.0.1:{collector.port}/v1/metrics")
        monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "10")
        metrics = OtlpMetrics(collect, may_send=lambda: True)
        assert enough.wait(120)
        metrics.stop()
        assert "depth" in collector.metrics

    told: list[LogRecord] = [each for each in caplog.records if each.name == "apps.telemetry.otlp_metrics"]
    assert [each.getMessage().split(";")[0] for each in told] == [
        "metrics can't be collected",
        "metrics are collected again",
    ]
