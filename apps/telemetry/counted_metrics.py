"""Counted metrics: what processes count as it happens. What the database knows is read from there instead.

Each process counts in files of its own (process_slots.py), and whoever is asked adds up those of its data folder.
docs/metrics.md tells what each metric means, and how several servers are added up.
"""

import os
from collections.abc import Iterator, Sequence
from functools import cache

from django.conf import settings
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, values
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector

from apps.telemetry.process_slots import ProcessSlots

REQUEST_SECONDS = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
STAGE_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
CALL_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0)


class CountedMetrics:
    """The metrics of this data folder; every label has few values."""

    def __init__(self, slots: ProcessSlots) -> None:
        self._slots = slots
        self._registry = CollectorRegistry()
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(slots.folder)  # where the library looks for its files
        values.ValueClass = values.MultiProcessValue(slots.mine)
        self._requests_of: dict[tuple[str, str, int], Counter] = {}
        self._seconds_of: dict[tuple[str, str], Histogram] = {}
        self._stages_of: dict[tuple[str, str], tuple[Counter, Histogram]] = {}
        counter, histogram, gauge = self._counter, self._histogram, self._gauge
        by_route = ("method", "route")
        self.requests = counter("http_requests", "Answered requests", *by_route, "status")
        self.request_seconds = histogram(
            "http_request_duration_seconds", "Duration of requests that have arrived", REQUEST_SECONDS, *by_route
        )
        self.stages = counter("stages", "Stages that traces went through", "stage", "result")
        self.stage_seconds = histogram("stage_duration_seconds", "Duration of stages", STAGE_SECONDS, "stage")
        self.work = counter("work", "Rows of the outbox that workers took", "kind", "outcome")
        self.calls = counter("model_calls", "Calls of models", "model", "purpose", "outcome")
        self.call_seconds = histogram("model_call_duration_seconds", "Duration of model calls", CALL_SECONDS, "model")
        self.tokens = counter("model_tokens", "Tokens of answered model calls", "model", "type")
        self.dollars = counter("model_cost_dollars", "Cost of answered model calls", "model")
        self.embeddings = counter("embeddings", "Calls of embedders by workers", "embedder", "outcome")
        self.embedding_seconds = histogram(
            "embedding_duration_seconds", "Duration of calls of embedders", STAGE_SECONDS, "embedder"
        )
        self.pool_connections = gauge("db_pool_connections", "Pooled database connections", "state")
        self.pool_waiting = gauge("db_pool_requests_waiting", "Threads that wait for a pooled connection")
        self.pool_requests = counter("db_pool_requests", "Requests for a pooled connection", "outcome")
        self.pool_wait_seconds = counter("db_pool_wait_seconds", "Time spent waiting for a pooled connection")

    def _counter(self, name: str, description: str, *labels: str) -> Counter:
        return Counter(f"memplatform_{name}", description, labels, registry=self._registry)

    def _histogram(self, name: str, description: str, buckets: Sequence[float], *labels: str) -> Histogram:
        return Histogram(f"memplatform_{name}", description, labels, buckets=buckets, registry=self._registry)

    def _gauge(self, name: str, description: str, *labels: str) -> Gauge:
        """Return a gauge whose values of running processes are added up."""
        name = f"memplatform_{name}"
        return Gauge(name, description, labels, registry=self._registry, multiprocess_mode="livesum")

    def count_request(self, method: str, route: str, status: int) -> None:
        """Count an answered request."""
        key = (method, route, status)
        counter = self._requests_of.get(key)
        if counter is None:  # kept, as finding it by its labels takes longer than counting
            counter = self._requests_of[key] = self.requests.labels(method, route, str(status))
        counter.inc()

    def time_request(self, method: str, route: str, seconds: float) -> None:
        """Add the duration of an answered request."""
        key = (method, route)
        histogram = self._seconds_of.get(key)
        if histogram is None:
            histogram = self._seconds_of[key] = self.request_seconds.labels(method, route)
        histogram.observe(seconds)

    def count_stage(self, stage: str, result: str, seconds: float) -> None:
        """Count a stage and add its duration."""
        kept = self._stages_of.get((stage, result))
        if kept is None:
            made = (self.stages.labels(stage, result), self.stage_seconds.labels(stage))
            kept = self._stages_of[(stage, result)] = made
        counter, histogram = kept
        counter.inc()
        histogram.observe(seconds)

    def collect(self) -> Iterator[Metric]:
        """Yield the sums over the processes of this data folder; a metric without counts has no samples."""
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
def counted_metrics() -> CountedMetrics:
    """Return the metrics; the first call of a process opens its files."""
    return CountedMetrics(ProcessSlots(settings.METRICS_DIR))


class CountedCollector:
    """Collects what the processes of this data folder have counted; needs no database."""

    def collect(self) -> Iterator[Metric]:
        """Return the metrics."""
        return counted_metrics().collect()


COUNTED = CollectorRegistry()
COUNTED.register(CountedCollector())
