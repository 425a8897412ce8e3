"""Give a task to the workers' task queue, and wake the workers for new work in the outbox."""

import time

import structlog
from django.conf import settings
from django_q.brokers import get_broker
from django_q.tasks import async_task

log = structlog.get_logger(__name__)

WAKE_SECONDS = 1.0  # a process wakes the workers no more often; they look for work for longer before they end
_next_wake = float("-inf")


def queue_task(name: str, *arguments: str, group: str, timeout: int | None = None) -> None:
    """Queue a task of apps/worker/tasks.py; call it after the commit of what the task reads.

    A broker that is away is logged only: what it was to be told is stored, and a scheduled task finds it.
    """
    limit = {} if timeout is None else {"timeout": timeout}
    try:
        async_task(f"apps.worker.tasks.{name}", *arguments, group=group, **limit)
    except Exception as error:  # noqa: BLE001  (each broker raises errors of its own)
        log.warning("task not queued", task=name, error=type(error).__name__)


def wake_workers() -> None:
    """Queue the task that does the work of the outbox, unless this process did so a moment ago or enough are queued.

    Call it after the commit of new work. A broker that is away is logged only: the schedule finds the work.
    """
    global _next_wake
    now = time.monotonic()
    if now < _next_wake:
        return
    _next_wake = now + WAKE_SECONDS
    try:
        if get_broker().queue_size() < settings.CLUSTER_WORKERS:
            async_task("apps.worker.tasks.work", group="work")
    except Exception as error:  # noqa: BLE001  (each broker raises errors of its own)
        log.warning("workers not woken", error=type(error).__name__)
