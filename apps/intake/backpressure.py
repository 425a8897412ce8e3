"""Backpressure: refuse requests of a project whose queue is full, so that accepted work is done in reasonable time."""

from uuid import UUID

from django.db.models import Sum

from apps.common.errors import Refused
from apps.intake.project_watch import ProjectWatch
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import WorkKind, WorkState
from apps.tenants.models import Project

COUNT_EVERY_SECONDS = 1.0
RETRY_AFTER_SECONDS = 5


class QueueFull(Refused):
    """The project's queue has reached its limit; retry after `retry_after` seconds."""

    def __init__(self, message: str, *, retry_after: int = RETRY_AFTER_SECONDS) -> None:
        super().__init__(message)
        self.retry_after = retry_after


IMPORT_SHARE = 0.5  # of the queue that an import fills, so that callers find room


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
    most = Project.objects.filter(id=project_id).values_list("queue_limit", flat=True).first()
    if most is None:
        return False
    waiting = OutboxRow.objects.filter(project_id=project_id, state=WorkState.PENDING, kind=WorkKind.RUN_PIPELINE)
    # No more rows than the limit are read, as each has at least one turn.
    counted = waiting.order_by().values("turn_count")[:most]
    return bool(counted.aggregate(turns=Sum("turn_count", default=0))["turns"] >= most * share)


_QUEUES = ProjectWatch(count=_is_full, every=COUNT_EVERY_SECONDS)
