"""See to it that the cluster drains: coalesced, outside the transaction, and never needed for correctness."""

import threading
import time
from datetime import timedelta

import structlog
from django.conf import settings
from django_q.brokers import get_broker
from django_q.tasks import async_task

from apps.outbox import heartbeats

log = structlog.get_logger(__name__)

EVERY_SECONDS = 1.0
_lock = threading.Lock()
_last = float("-inf")


def wake_workers() -> None:
    """Start a drain unless the cluster's workers drain already; looks at most once a second in a process.

    A running drain finds new work by itself, and a schedule starts what a lost poke did not.
    """
    if _is_recent():
        return
    try:
        start_drains()
    except Exception:  # whatever the broker raises, the work is owed all the same and the schedule will find it
        log.exception("poke failed")


def start_drains() -> None:
    """Queue as many drains as there are workers without one."""
    draining = heartbeats.alive(within=timedelta(seconds=3 * settings.HEARTBEAT_SECONDS))
    missing = settings.CLUSTER_WORKERS - draining - get_broker().queue_size()
    for _ in range(missing):
        async_task("apps.worker.tasks.drain", group="drain")


def _is_recent() -> bool:
    global _last
    with _lock:
        now = time.monotonic()
        if now - _last < EVERY_SECONDS:
            return True
        _last = now
        return False
