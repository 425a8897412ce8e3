"""Tell how far the pool of database connections of this process is used."""

import threading
import time
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.backends.postgresql.base import DatabaseWrapper

from apps.telemetry.counted_metrics import counted_metrics

EVERY_SECONDS = 5.0
_lock = threading.Lock()
_next = 0.0


def note_pool() -> None:
    """Publish the state of the pool, at most every few seconds; without a pool there is none."""
    global _next
    now = time.monotonic()
    if now < _next:
        return
    with _lock:
        if now < _next:
            return
        _next = now + EVERY_SECONDS
    pools: dict[str, Any] = vars(DatabaseWrapper)["_connection_pools"]  # asking for one would make it
    if pool := pools.get(DEFAULT_DB_ALIAS):
        _publish(pool.pop_stats())


def _publish(stats: dict[str, int]) -> None:
    """Publish figures of psycopg's pool; its counters begin at zero each time."""
    metrics, idle = counted_metrics(), stats.get("pool_available", 0)
    metrics.pool_connections.labels("idle").set(idle)
    metrics.pool_connections.labels("used").set(stats.get("pool_size", 0) - idle)
    metrics.pool_waiting.set(stats.get("requests_waiting", 0))
    failed = stats.get("requests_errors", 0)
    metrics.pool_requests.labels("failed").inc(failed)
    metrics.pool_requests.labels("served").inc(max(0, stats.get("requests_num", 0) - failed))
    metrics.pool_wait_seconds.inc(stats.get("requests_wait_ms", 0) / 1_000)
