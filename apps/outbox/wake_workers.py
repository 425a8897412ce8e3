"""Start drain tasks on the cluster. A mere optimisation of latency: a schedule starts them as well."""

import threading
import time
from datetime import timedelta

import structlog
from django.conf import settings
from django_q.brokers import get_broker
from django_q.tasks import async_task

from apps.outbox import heartbeats

log = structlog.get_logger(__name__)

CHECK_EVERY_SECONDS = 1.0
_lock = threading.Lock()
_last_check = float("-inf")


def wake_workers() -> None:
    """Start drains unless every worker of the cluster runs one; checks at most once a second per process.

    Call it outside of a transaction. Errors are logged only: running drains find new work by polling, and the schedule
    starts the others.
    """
    if _checked_recently():
        return
    try:
        start_drains()
    except Exception:  # the work is committed, and the schedule will start a drain
        log.exception("waking workers failed")


def start_drains() -> None:
    """Queue one drain task for each worker without one."""
    draining = heartbeats.alive(within=timedelta(seconds=3 * settings.HEARTBEAT_SECONDS))
    missing = settings.CLUSTER_WORKERS - draining - get_broker().queue_size()
    for _ in range(missing):
        async_task("apps.worker.tasks.drain", group="drain")


def _checked_recently() -> bool:
    global _last_check
    with _lock:
        now = time.monotonic()
        if now - _last_check < CHECK_EVERY_SECONDS:
            return True
        _last_check = now
        return False
