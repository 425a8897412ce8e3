"""Metrics of events: what processes count as it happens. What the database knows is read from there instead.

Each process counts in files of its own (process_slots.py), and whoever is asked adds up those of its data folder.
docs/metrics.md tells what each metric means, and how several servers are added up.
"""

import os
from collections.abc import Iterator
from functools import cache

from django.conf import settings
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, values
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector

from apps.telemetry.process_slots import ProcessSlots

REQUEST_SECONDS = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
STAGE_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
CALL_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0)


class EventMetrics:
    """The metrics of this data folder; every label has few values."""

    def __init__(self, slots: ProcessSlots) -> None:
        self._slots = slots
        self._registry = CollectorRegistry()
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(slots.folder)  # where the library looks for its files
        values.ValueClass = values.MultiProcessValue(slots.mine)
        make = {"namespace": "memplatform", "registry": self._registry}
        self.requests = Counter("http_requests", "Answered requests", ["method", "route", "status"], **make)
        self.request_seconds = Histogram(
            "http_request_duration_seconds",
            "Duration of requests, from the whole body to the answer",
            ["method", "route"],
            buckets=REQUEST_SECONDS,
            **make,
        )
        self.requests_running = Gauge(
            "http_requests_in_progress", "Requests that hold a thread", ["method"], multiprocess_mode="livesum", **make
        )
        self.stages = Counter("stages", "Stages that traces went through", ["stage", "result"], **make)
        self.stage_seconds = Histogram(
            "stage_duration_seconds", "Duration of stages", ["stage"], buckets=STAGE_SECONDS, **make
        )
        self.calls = Counter("model_calls", "Calls of models", ["model", "purpose", "outcome"], **make)
        self.call_seconds = Histogram(
            "model_call_duration_seconds", "Duration of calls of models", ["model"], buckets=CALL_SECONDS, **make
        )
        self.tokens = Counter("model_tokens", "Tokens of answered calls", ["model", "type"], **make)
        self.dollars = Counter("model_cost_dollars", "Cost of answered calls", ["model"], **make)
        self.embeddings = Counter("embeddings", "Calls of embedders", ["embedder", "outcome"], **make)
        self.embedding_seconds = Histogram(
            "embedding_duration_seconds", "Duration of calls of embedders", ["embedder"], buckets=STAGE_SECONDS, **make
        )
        self.work = Counter("work", "Rows of the outbox that workers have taken", ["kind", "outcome"], **make)
        self.pool_connections = Gauge(
            "db_pool_connections", "Pooled connections", ["state"], multiprocess_mode="livesum", **make
        )
        self.pool_waiting = Gauge(
            "db_pool_requests_waiting", "Threads that wait for a connection", [], multiprocess_mode="livesum", **make
        )
        self.pool_requests = Counter("db_pool_requests", "Requests for a pooled connection", ["outcome"], **make)
        self.pool_wait_seconds = Counter("db_pool_wait_seconds", "Time spent waiting for a connection", [], **make)

    def collect(self) -> Iterator[Metric]:
        """Yield the sums over the processes of this data folder; a metric without events has no samples."""
        found = {metric.name: metric for metric in MultiProcessCollector.merge(self._files(), accumulate=True)}
        for declared in self._registry.collect():
            metric = found.get(declared.name, declared)
            if declared.name not in found:
                declared.samples = []
            yield metric

    def may_export(self) -> bool:
        """Return True in the one process that may send the sums of this data folder to a collector."""
        return self._slots.may_export()

    def _files(self) -> list[str]:
        """Return the files to add up; gauges count only while their process runs."""
        return [
            str(path)
            for path in self._slots.folder.glob("*.db")
            if not path.name.startswith("gauge_") or self._slots.is_held(path.stem.rpartition("_")[2])
        ]


@cache
def event_metrics() -> EventMetrics:
    """Return the metrics; the first call of a process opens its files."""
    return EventMetrics(ProcessSlots(settings.METRICS_DIR))
