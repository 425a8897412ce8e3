"""Give a task to the workers' task queue."""

import structlog
from django_q.tasks import async_task

log = structlog.get_logger(__name__)


def queue_task(name: str, *arguments: str, group: str, timeout: int | None = None) -> None:
    """Queue a task of apps/worker/tasks.py; call it after the commit of what the task reads.

    A broker that is away is logged only: what it was to be told is stored, and a scheduled task finds it.
    """
    limit = {} if timeout is None else {"timeout": timeout}
    try:
        async_task(f"apps.worker.tasks.{name}", *arguments, group=group, **limit)
    except Exception as error:  # noqa: BLE001  (each broker raises errors of its own)
        log.warning("task not queued", task=name, error=type(error).__name__)
