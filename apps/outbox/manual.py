"""Changes of outbox rows by a person: retry rows, discard one, or cancel work whose subject is taken back.

The lease is locked first, as workers do, to avoid deadlocks. All times are the database's.
"""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import BooleanField, ExpressionWrapper, Q
from django.db.models.functions import Now

from apps.outbox.enqueue import wake_workers
from apps.outbox.leases import mark_ready
from apps.outbox.models import OutboxRow, UserLease
from apps.pipeline.core.enums import WorkKind, WorkState

_IS_LEASED = ExpressionWrapper(Q(leased_until__gt=Now()), output_field=BooleanField())


def retry(
    *,
    end_user_ids: Sequence[UUID],
    row_ids: Sequence[int],
    states: Sequence[WorkState] = (WorkState.PENDING, WorkState.DEAD),
) -> list[OutboxRow]:
    """Make rows in one of the states due now and reset their attempts; return them.

    The leases of the end users stay locked until the caller's transaction ends.
    """
    changes = {"state": WorkState.PENDING, "attempts": 0, "waiting_since": None, "finished_at": None}
    with transaction.atomic():
        list(UserLease.objects.filter(pk__in=end_user_ids).select_for_update().order_by("pk"))
        rows = OutboxRow.objects.filter(end_user__in=end_user_ids, pk__in=row_ids, state__in=states)
        retried = list(rows.select_for_update())
        OutboxRow.objects.filter(pk__in=[each.pk for each in retried]).update(run_at=Now(), **changes)
        mark_ready(end_user_ids={each.end_user_id for each in retried})
        transaction.on_commit(wake_workers)
    return retried


def discard(*, end_user_id: UUID, row_id: int, error: str) -> bool:
    """Mark an open row as dead, so that the rows after it can run.

    Return False if it is closed or a worker is processing it.
    """
    with transaction.atomic():
        lease = UserLease.objects.annotate(is_leased=_IS_LEASED).filter(pk=end_user_id).select_for_update().first()
        is_open = Q(state=WorkState.PENDING)
        if lease is None or not lease.is_leased:
            is_open |= Q(state=WorkState.RUNNING)
        rows = OutboxRow.objects.filter(is_open, end_user=end_user_id, pk=row_id)
        changed = rows.update(state=WorkState.DEAD, finished_at=Now(), last_error=error[:4_000])
        if changed:
            mark_ready(end_user_ids=[end_user_id])
    return bool(changed)


def cancel(*, end_user_id: UUID, kinds: Sequence[WorkKind], subject_ids: Sequence[UUID]) -> int:
    """Mark open and dead rows as done, because their subject is taken back; return how many.

    The caller has interrupted the end user's lease in this transaction, so that no worker is processing them.
    """
    rows = OutboxRow.objects.filter(end_user=end_user_id, kind__in=kinds, subject_id__in=subject_ids)
    changes = {"state": WorkState.DONE, "finished_at": Now(), "last_error": "", "waiting_since": None}
    return int(rows.exclude(state=WorkState.DONE).update(**changes))
