"""Bury a piece of owed work."""

from uuid import UUID

from django.db import transaction

from apps.actions.errors import Conflict, NotFound
from apps.outbox import manual
from apps.outbox.models import OutboxRow
from apps.outbox.wake_workers import wake_workers
from apps.pipeline.core.enums import RUNS, TraceStatus
from apps.traces import recorder


def discard_work(*, project_id: UUID, row_id: int, actor: str) -> None:
    """Give open work up, so that what waits behind it goes on; it can be retried later. Its trace is dead.

    Raises NotFound, Conflict for work that a worker is at, or that has ended.
    """
    row = OutboxRow.objects.filter(project_id=project_id, id=row_id).first()
    if row is None:
        raise NotFound("there is no such work")
    error = f"buried by {actor}; before: {row.last_error or 'no error'}"
    with transaction.atomic():
        if not manual.discard(end_user_id=row.end_user_id, row_id=row.id, error=error):
            raise Conflict("only open work that no worker is at can be buried")
        if row.kind in RUNS:
            recorder.fail_trace(
                end_user_id=row.end_user_id, trace_id=row.subject_id, status=TraceStatus.DEAD, error=error
            )
        transaction.on_commit(wake_workers)
