"""Backpressure: refuse requests of a project whose queue is full, so that accepted work is done in reasonable time."""

from uuid import UUID

from apps.actions.errors import Refused
from apps.intake.project_watch import ProjectWatch
from apps.outbox.fetch import fetch

COUNT_EVERY_SECONDS = 1.0
RETRY_AFTER_SECONDS = 5


class QueueFull(Refused):
    """The project's queue has reached its limit; retry after `retry_after` seconds."""

    def __init__(self, message: str, *, retry_after: int = RETRY_AFTER_SECONDS) -> None:
        super().__init__(message)
        self.retry_after = retry_after


IMPORT_SHARE = 0.5  # of the queue that an import fills, so that callers find room
_LIMIT = "select queue_limit from tenants_project where id = %s"
# Reads no more rows than the limit, as each has at least one turn, and uses the partial index of pending rows. The
# limit is read before: of distributed tables no subquery may refer to a row of another table.
_WAITING = """
select coalesce(sum(turn_count), 0) from (
    select turn_count from outbox_outboxrow
    where project_id = %s and state = 'pending' and kind = 'run_pipeline' limit %s
) waiting
"""


def check_queue_limit(*, project_id: UUID) -> None:
    """Raise QueueFull when the project's queue had reached its limit when it was counted last.

    It is counted once a second beside the requests, so each process may exceed the limit by the requests of a second.
    """
    if _QUEUES.state_of(project_id):
        raise QueueFull("the project's queue is full; retry when earlier requests have been processed")


def check_room_for_import(*, project_id: UUID) -> None:
    """Raise QueueFull when so much waits that an import has to wait as well. It asks rarely, so it counts each time."""
    if _is_full(project_id, share=IMPORT_SHARE):
        raise QueueFull("the project's queue is half full; it goes on when earlier turns have been processed")


def _is_full(project_id: UUID, share: float = 1.0) -> bool:
    """Return True if a share of the queue is filled; False for a project that is gone."""
    limits = fetch(_LIMIT, [project_id])
    if not limits:
        return False
    ((most,),) = limits
    ((waiting,),) = fetch(_WAITING, [project_id, most])
    return bool(waiting >= most * share)


_QUEUES = ProjectWatch(count=_is_full, every=COUNT_EVERY_SECONDS)
