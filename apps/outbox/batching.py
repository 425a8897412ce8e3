"""Let the requests of a session wait for each other, so that they share a call to the model.

A waiting run is a pending row that was never attempted and is due later. Once a run of an end user is due, the earlier
ones that wait are done with it: the order in which they were accepted is kept. All times are the database's.
"""

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Sum
from django.db.models.functions import Now
from django.db.models.query import QuerySet

from apps.outbox.leases import set_ready_at
from apps.outbox.models import OutboxRow, UserLease
from apps.pipeline.core.enums import WorkKind, WorkState


def let_wait(*, end_user_id: UUID, session_id: UUID, quiet: timedelta, most_turns: int) -> None:
    """Let the runs of a session wait until it was quiet for this long, or until `most_turns` turns wait.

    Call it in the transaction that has enqueued a run of the session, and locked its lease.
    """
    waiting = _waiting(end_user_id, session_id)
    turns = waiting.aggregate(turns=Sum("turn_count"))["turns"] or 0
    waiting.update(run_at=Now() if turns >= most_turns else Now() + quiet)
    set_ready_at(end_user_id=end_user_id)


def stop_waiting(*, end_user_id: UUID, session_id: UUID) -> None:
    """Make the runs of a session due that wait for further turns."""
    with transaction.atomic():
        # The lease is locked before rows, as everywhere.
        UserLease.objects.select_for_update().filter(end_user_id=end_user_id).first()
        if _waiting(end_user_id, session_id).filter(run_at__gt=Now()).update(run_at=Now()):
            set_ready_at(end_user_id=end_user_id)


def _waiting(end_user_id: UUID, session_id: UUID) -> QuerySet[OutboxRow]:
    return OutboxRow.objects.filter(
        end_user_id=end_user_id,
        session_id=session_id,
        kind=WorkKind.RUN_PIPELINE,
        state=WorkState.PENDING,
        attempts=0,
        waiting_since=None,
    )
