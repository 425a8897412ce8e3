"""Go on with rollbacks and their undo, one end user after the other, until nothing is left or the time is up."""

import time
from collections import Counter
from datetime import timedelta
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from apps.actions.errors import Refused
from apps.actions.rollbacks.one_user import MOST_TRIES
from apps.actions.rollbacks.roll_back_user import roll_back_user
from apps.actions.rollbacks.undo_user import undo_user
from apps.memories.models import Rollback, RollbackItem
from apps.pipeline.core.enums import RollbackState
from apps.pipeline.core.ports import StalePlan
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope

log = structlog.get_logger(__name__)
# The state of items that are left to do, and the state that follows, by the state of the rollback.
_STEPS = {
    RollbackState.WAITING: (RollbackState.WAITING, RollbackState.DONE),
    RollbackState.UNDOING: (RollbackState.DONE, RollbackState.UNDONE),
}


def run_rollback(*, rollback_id: UUID, most: timedelta) -> bool:
    """Do what is left of a rollback, or of its undo; return True once nothing is.

    Each end user is one transaction, so what was killed goes on where it was, and two processes may run the same
    rollback. An end user who can't be done, because others write all the time, is left for the next call.
    """
    deadline = time.monotonic() + most.total_seconds()
    rollback = Rollback.objects.get(id=rollback_id)
    if rollback.is_over:
        return True
    todo, _ = _STEPS[RollbackState(rollback.state)]
    users = RollbackItem.objects.filter(rollback=rollback, state=todo).order_by("id")
    for end_user_id in list(users.values_list("end_user_id", flat=True)):
        if time.monotonic() >= deadline:
            return False
        _do(rollback, end_user_id)
    return _finish(rollback_id)


def continue_rollbacks(*, most: timedelta) -> int:
    """Go on with unfinished rollbacks, oldest first; return how many are finished now."""
    deadline = time.monotonic() + most.total_seconds()
    with system_scope(SystemWork.SCHEDULE):
        rollbacks = Rollback.objects.filter(state__in=[state.value for state in _STEPS]).order_by("id")
        unfinished = list(rollbacks.values_list("id", "project_id"))
    finished = 0
    for rollback_id, project_id in unfinished:
        with tenant_scope(project_id=project_id):
            finished += run_rollback(rollback_id=rollback_id, most=timedelta(seconds=deadline - time.monotonic()))
    return finished


def _do(rollback: Rollback, end_user_id: UUID) -> None:
    do = undo_user if rollback.state == RollbackState.UNDOING else roll_back_user
    for attempt in range(MOST_TRIES):
        try:
            do(rollback=rollback, end_user_id=end_user_id)
            return
        except (StalePlan, Refused) as why:
            if attempt == MOST_TRIES - 1:
                log.info("rollback of a user put off", rollback=str(rollback.id), reason=str(why))
                items = RollbackItem.objects.filter(rollback=rollback, end_user_id=end_user_id)
                items.update(error=str(why)[:4_000])


def _finish(rollback_id: UUID) -> bool:
    """Close a rollback whose items are all done, with the sum of their counts."""
    with transaction.atomic():
        rollback = Rollback.objects.select_for_update().get(id=rollback_id)
        if rollback.is_over:
            return True
        todo, following = _STEPS[RollbackState(rollback.state)]
        items = RollbackItem.objects.filter(rollback=rollback)
        if items.filter(state=todo).exists():
            return False
        now = timezone.now()
        if following is RollbackState.DONE:
            total: Counter[str] = Counter()
            for done in items.values_list("done", flat=True):
                total.update(done.get("counts", {}))
            rollback.counts, rollback.finished_at = {"users": items.count(), **total}, now
        else:
            rollback.counts, rollback.undone_at = {**rollback.counts, **_undone(items)}, now
        rollback.state = following
        rollback.save()
    return True


def _undone(items: QuerySet[RollbackItem]) -> dict[str, int]:
    """Return how many traces an undo has restored, and how much it has left alone."""
    rows = list(items.values_list("done", "left_alone"))
    return {
        "undone_traces": sum(done.get("undone_traces", 0) for done, _ in rows),
        "undo_left_alone": sum(len(kept) for _, kept in rows),
    }
