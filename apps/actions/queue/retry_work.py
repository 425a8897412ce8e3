"""Retry a piece of owed work."""

from uuid import UUID

from django.db import transaction

from apps.actions.errors import Conflict, NotFound
from apps.outbox import manual
from apps.outbox.models import OutboxRow
from apps.outbox.wake_workers import wake_workers
from apps.pipeline.core.enums import RUNS, TraceStatus
from apps.traces import recorder


def retry_work(*, project_id: UUID, row_id: int) -> None:
    """Make dead or waiting work due now, with all its attempts before it; its trace is queued again.

    Raises NotFound, Conflict for work that is being done or was done.
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
        transaction.on_commit(wake_workers)
