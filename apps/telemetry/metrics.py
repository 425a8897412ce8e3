"""What processes count as it happens; what the database knows is read from there (apps/health/metrics.py).

Each process counts in files of its own in PROMETHEUS_MULTIPROC_DIR, by the multiprocess mode of prometheus_client, and
any process adds up the files of all. docs/metrics.md gives the meaning of each metric.
"""

import fcntl
import os
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS
from django.db.backends.postgresql.base import DatabaseWrapper
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, values
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from apps.pipeline.core.draft import StageSpan

_MOST_PROCESSES = 10_000
_FOLDER = Path(settings.METRICS_DIR)
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(_FOLDER)  # where the library looks for its files
_slots: dict[int, tuple[str, IO[bytes]]] = {}  # of this process, by its id: a forked process takes another slot


def _slot() -> str:
    """Return the number in the names of this process's files: the first that no running process has locked.

    The operating system releases the lock when the process ends. The next process goes on with the same files, so that
    sums never fall and files do not pile up. Numbers are distinct in all containers that share the folder, unlike pids.
    """
    pid = os.getpid()
    if pid not in _slots:
        _slots.clear()
        _FOLDER.mkdir(parents=True, exist_ok=True)
        locks = (_FOLDER / "slots").open("ab")  # stays open, as closing it would release the lock
        number = next(each for each in range(_MOST_PROCESSES) if _lock(locks, each))
        mark_process_dead(number, str(_FOLDER))  # removes the gauges of the process that had it before
        _slots[pid] = str(number), locks
    return _slots[pid][0]


def _lock(locks: IO[bytes], number: int) -> bool:
    try:
        fcntl.lockf(locks, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
    except OSError:
        return False
    return True


def _is_running(slot: str) -> bool:
    """Return True if a process holds a slot."""
    own = _slot()
    _, locks = _slots[os.getpid()]
    if slot == own:
        return True
    is_free = _lock(locks, int(slot))
    if is_free:
        fcntl.lockf(locks, fcntl.LOCK_UN, 1, int(slot))
    return not is_free


values.ValueClass = values.MultiProcessValue(_slot)  # the library chooses one when it is imported
_DECLARED = CollectorRegistry()


def _counter(name: str, description: str, *labels: str) -> Counter:
    return Counter(f"memplatform_{name}", description, labels, registry=_DECLARED)


def _gauge(name: str, description: str, *labels: str) -> Gauge:
    """Return a gauge whose values of running processes are added up."""
    return Gauge(f"memplatform_{name}", description, labels, registry=_DECLARED, multiprocess_mode="livesum")


def _histogram(name: str, description: str, *labels: str, seconds: tuple[float, ...]) -> Histogram:
    return Histogram(f"memplatform_{name}", description, labels, registry=_DECLARED, buckets=seconds)


_REQUEST = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_STAGE = (0.0005, 0.001, *_REQUEST)
_CALL = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0)

# Every label has few values, and none that a caller chooses.
REQUESTS = _counter("http_requests", "Answered requests", "method", "route", "status")
REQUEST_SECONDS = _histogram(
    "http_request_duration_seconds", "Duration of requests that have arrived", "method", "route", seconds=_REQUEST
)
STAGES = _counter("stages", "Stages that traces went through", "stage", "result")
STAGE_SECONDS = _histogram("stage_duration_seconds", "Duration of stages", "stage", seconds=_STAGE)
WORK = _counter("work", "Rows of the outbox that workers took", "kind", "outcome")
CALLS = _counter("model_calls", "Calls of models", "model", "purpose", "outcome")
CALL_SECONDS = _histogram("model_call_duration_seconds", "Duration of model calls", "model", seconds=_CALL)
TOKENS = _counter("model_tokens", "Tokens of answered model calls", "model", "type")
DOLLARS = _counter("model_cost_dollars", "Cost of answered model calls", "model")
EMBEDDINGS = _counter("embeddings", "Calls of embedders by workers", "embedder", "outcome")
EMBEDDING_SECONDS = _histogram(
    "embedding_duration_seconds", "Duration of calls of embedders", "embedder", seconds=_STAGE
)
POOL_CONNECTIONS = _gauge("db_pool_connections", "Pooled database connections", "state")
POOL_WAITING = _gauge("db_pool_requests_waiting", "Threads that wait for a pooled connection")
POOL_REQUESTS = _counter("db_pool_requests", "Requests for a pooled connection", "outcome")
POOL_WAIT_SECONDS = _counter("db_pool_wait_seconds", "Time spent waiting for a pooled connection")


class CountedCollector:
    """Collects the sums over all processes; needs no database."""

    def collect(self) -> Iterator[Metric]:
        """Yield all declared metrics; one that no process has counted has no samples."""
        files = [
            str(path)
            for path in _FOLDER.glob("*.db")
            if not path.name.startswith("gauge_") or _is_running(path.stem.rpartition("_")[2])
        ]
        found = {metric.name: metric for metric in MultiProcessCollector.merge(files, accumulate=True)}
        for declared in _DECLARED.collect():
            declared.samples = []
            yield found.get(declared.name, declared)


COUNTED = CollectorRegistry()
COUNTED.register(CountedCollector())


SLOW_SECONDS = 0.5  # of the requests that an agent waits for
_WAITED_FOR = frozenset({"/v1/context", "/v1/memories/search"})


class RequestCounts(NamedTuple):
    """The requests to /v1/ so far: answered, failed by the server, waited for by agents, and slow ones of these."""

    answered: float = 0
    failed: float = 0
    waited_for: float = 0
    slow: float = 0


def request_counts() -> RequestCounts:
    """Add up the requests of all processes of this data folder."""
    found: defaultdict[str, float] = defaultdict(float)
    for metric in CountedCollector().collect():
        for name, labels, value, *_ in metric.samples:
            route = labels.get("route", "")
            if name == "memplatform_http_requests_total" and route.startswith("/v1/"):
                found["answered"] += value
                found["failed"] += value * labels["status"].startswith("5")
            elif name == "memplatform_http_request_duration_seconds_bucket" and route in _WAITED_FOR:
                found["waited_for"] += value * (labels["le"] == "+Inf")
                found["quick"] += value * (labels["le"] == str(SLOW_SECONDS))
    waited_for = found["waited_for"]
    return RequestCounts(found["answered"], found["failed"], waited_for, waited_for - found["quick"])


def count_stages(spans: Iterable[StageSpan]) -> None:
    """Count the stages of a trace that has got on."""
    for each in spans:
        STAGES.labels(each.stage.value, each.result.value).inc()
        STAGE_SECONDS.labels(each.stage.value).observe(each.latency_us / 1_000_000)


_POOL_EVERY_SECONDS = 5.0
_next_pool = 0.0


def note_pool() -> None:
    """Publish the state of the connection pool, at most every few seconds; without a pool there is none."""
    global _next_pool
    if (now := time.monotonic()) < _next_pool:
        return
    _next_pool = now + _POOL_EVERY_SECONDS
    pools: dict[str, Any] = vars(DatabaseWrapper)["_connection_pools"]  # asking for one would make it
    if pool := pools.get(DEFAULT_DB_ALIAS):
        stats = pool.pop_stats()  # its counters begin at zero each time
        idle, failed = stats.get("pool_available", 0), stats.get("requests_errors", 0)
        POOL_CONNECTIONS.labels("idle").set(idle)
        POOL_CONNECTIONS.labels("used").set(stats.get("pool_size", 0) - idle)
        POOL_WAITING.set(stats.get("requests_waiting", 0))
        POOL_REQUESTS.labels("failed").inc(failed)
        POOL_REQUESTS.labels("served").inc(max(0, stats.get("requests_num", 0) - failed))
        POOL_WAIT_SECONDS.inc(stats.get("requests_wait_ms", 0) / 1_000)
