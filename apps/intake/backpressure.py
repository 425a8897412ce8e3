"""Refuse new work for a project whose queue is full, so that what was accepted is done in time."""

import threading
from uuid import UUID

from cachetools import TTLCache
from django.db import connection

from apps.actions.errors import Refused

LOOK_EVERY_SECONDS = 1.0
MOST_PROJECTS = 10_000
RETRY_AFTER_SECONDS = 5


class QueueFull(Refused):
    """The project's queue is longer than its limit; ask again after `retry_after` seconds."""

    def __init__(self, message: str, *, retry_after: int = RETRY_AFTER_SECONDS) -> None:
        super().__init__(message)
        self.retry_after = retry_after


_looks: TTLCache[UUID, bool] = TTLCache(maxsize=MOST_PROJECTS, ttl=LOOK_EVERY_SECONDS)  # whether a queue was full
_lock = threading.Lock()

# Counts no further than the limit, along the partial index of what is pending.
_IS_FULL = """
select (
    select count(*) from (
        select 1 from outbox_outboxrow
        where project_id = project.id and state = 'pending' and kind = 'run_pipeline' limit project.queue_limit
    ) waiting
) >= project.queue_limit
from tenants_project project where project.id = %s
"""


def check_room(*, project_id: UUID) -> None:
    """Raise QueueFull when the project's queue has reached its limit.

    A process looks at most once a second for a project: the limit may be passed by what arrives within it.
    """
    with _lock:
        is_full = _looks.get(project_id)
    if is_full is None:
        is_full = _is_full(project_id)
        with _lock:
            _looks[project_id] = is_full
    if is_full:
        raise QueueFull("the project's queue is full; what was accepted before is done first")


def _is_full(project_id: UUID) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(_IS_FULL, [project_id])
        row = cursor.fetchone()
    return bool(row and row[0])
