"""Backpressure: refuse requests of a project whose queue is full, so that accepted work is done in reasonable time."""

import threading
from uuid import UUID

from cachetools import TTLCache
from django.db import connection

from apps.actions.errors import Refused

CHECK_EVERY_SECONDS = 1.0
MOST_PROJECTS = 10_000
RETRY_AFTER_SECONDS = 5


class QueueFull(Refused):
    """The project's queue has reached its limit; retry after `retry_after` seconds."""

    def __init__(self, message: str, *, retry_after: int = RETRY_AFTER_SECONDS) -> None:
        super().__init__(message)
        self.retry_after = retry_after


_full: TTLCache[UUID, bool] = TTLCache(maxsize=MOST_PROJECTS, ttl=CHECK_EVERY_SECONDS)
_lock = threading.Lock()

# Reads no more rows than the limit, as each has at least one turn, and uses the partial index of pending rows.
IMPORT_SHARE = 0.5  # of the queue that an import fills, so that callers find room
_IS_FULL = """
select (
    select coalesce(sum(turn_count), 0) from (
        select turn_count from outbox_outboxrow
        where project_id = project.id and state = 'pending' and kind = 'run_pipeline' limit project.queue_limit
    ) waiting
) >= project.queue_limit * %s
from tenants_project project where project.id = %s
"""


def check_queue_limit(*, project_id: UUID) -> None:
    """Raise QueueFull when the project's queue has reached its limit.

    The result is cached for a second per process and project, so the limit can be exceeded by the requests of a second.
    """
    with _lock:
        is_full = _full.get(project_id)
    if is_full is None:
        with connection.cursor() as cursor:
            cursor.execute(_IS_FULL, [1, project_id])
            row = cursor.fetchone()
        is_full = bool(row and row[0])
        with _lock:
            _full[project_id] = is_full
    if is_full:
        raise QueueFull("the project's queue is full; retry when earlier requests have been processed")


def check_room_for_import(*, project_id: UUID) -> None:
    """Raise QueueFull when so much waits that an import has to wait as well. Not cached: an import asks it rarely."""
    with connection.cursor() as cursor:
        cursor.execute(_IS_FULL, [IMPORT_SHARE, project_id])
        row = cursor.fetchone()
    if row and row[0]:
        raise QueueFull("the project's queue is half full; it goes on when earlier turns have been processed")
