"""Discard a piece of queued work."""

from uuid import UUID

from django.db import transaction

from apps.actions.errors import Conflict, NotFound
from apps.actions.ledger.record import record
from apps.outbox import manual
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import RUNS, TraceStatus
from apps.traces import recorder

DISCARDED = "discarded by "  # begins the error of discarded work


def discard_work(*, project_id: UUID, row_id: int, actor: str) -> None:
    """Mark open work and its trace as dead, so that the work behind it can run; it can be retried later.

    Raises NotFound, Conflict for work that a worker is processing or that has ended.
    """
    row = OutboxRow.objects.filter(project_id=project_id, id=row_id).first()
    if row is None:
        raise NotFound("there is no such work")
    error = f"{DISCARDED}{actor}; before: {row.last_error or 'no error'}"
    with transaction.atomic():
        if not manual.discard(end_user_id=row.end_user_id, row_id=row.id, error=error):
            raise Conflict("only open work that no worker is processing can be discarded")
        if row.kind in RUNS:
            recorder.fail_trace(
                end_user_id=row.end_user_id, trace_id=row.subject_id, status=TraceStatus.DEAD, error=error
            )
        record(
            project_id=project_id,
            end_user_id=row.end_user_id,
            verb="work_discarded",
            object_kind=row.kind,
            object_id=row.subject_id,
        )
