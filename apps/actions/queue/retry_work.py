"""Retry a piece of dead or waiting work."""

from uuid import UUID

from django.db import transaction

from apps.actions.errors import Conflict, NotFound
from apps.actions.ledger.record import record
from apps.outbox import manual
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import RUNS, TraceStatus
from apps.traces import recorder


def retry_work(*, project_id: UUID, row_id: int) -> None:
    """Make dead or waiting work due now and reset its attempts; its trace is queued again.

    Raises NotFound, Conflict for work that is running or done.
    """
    row = OutboxRow.objects.filter(project_id=project_id, id=row_id).first()
    if row is None:
        raise NotFound("there is no such work")
    with transaction.atomic():
        if not manual.retry(end_user_id=row.end_user_id, row_id=row.id):
            raise Conflict("only work that is dead or waits can be retried")
        if row.kind in RUNS:
            recorder.fail_trace(
                end_user_id=row.end_user_id, trace_id=row.subject_id, status=TraceStatus.QUEUED, error=row.last_error
            )
        record(
            project_id=project_id,
            end_user_id=row.end_user_id,
            verb="work_retried",
            object_kind=row.kind,
            object_id=row.subject_id,
        )
