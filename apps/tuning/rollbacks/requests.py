"""Choose, preview and request rollbacks."""

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction

from apps.common.errors import Conflict, NotFound
from apps.memories.ledger.actor import current_actor
from apps.memories.ledger.record import record
from apps.memories.models import Memory, Rollback, RollbackItem
from apps.outbox.enqueue import queue_task
from apps.pipeline.core.enums import RollbackState
from apps.pipeline.core.operations import ReviseMemory
from apps.pipeline.redaction.redact import redact
from apps.traces.policies import active_policy
from apps.tuning.rollbacks.loading import selected_traces
from apps.tuning.rollbacks.planning import Kept
from apps.tuning.rollbacks.running import KeptRow, counts_of, kept_rows, plan_of, run_rollback

MOST_USERS = 50  # of whom a preview looks at each memory
MOST_MEMORIES = 500  # listed in a preview


@dataclass(frozen=True, slots=True)
class PreviewedMemory:
    """A memory that a rollback would change, with the columns that get other values."""

    memory: Memory
    changes: dict[str, Any]

    @property
    def becomes(self) -> str:
        """Return the status that the memory would have."""
        return str(self.changes.get("status", self.memory.status))


@dataclass(frozen=True, slots=True)
class RollbackPreview:
    """What a rollback would do; of many end users, memories are listed for the first ones only."""

    users: int
    traces: int
    users_previewed: int
    counts: dict[str, int]
    memories: tuple[PreviewedMemory, ...]
    kept: list[KeptRow]


def preview_rollback(rollback: Rollback) -> RollbackPreview:
    """Plan a rollback, which is not stored, for up to MOST_USERS end users."""
    project_id = rollback.project_id
    traces = selected_traces(rollback)
    users = sorted(traces.order_by().values_list("end_user_id", flat=True).distinct())
    total: Counter[str] = Counter()
    changes: dict[UUID, dict[str, Any]] = {}
    kept: list[Kept] = []
    for user in users[:MOST_USERS]:
        ids = set(traces.filter(end_user_id=user).values_list("id", flat=True))
        planned = plan_of(rollback, user, ids)
        total.update(counts_of(planned, traces=len(ids)))
        changes |= {each.memory_id: dict(each.changes) for each in planned.plan.of(ReviseMemory)}
        kept += planned.kept
    memories = Memory.objects.for_project(project_id).filter(id__in=list(changes)[:MOST_MEMORIES])
    rows = {row.id: row for row in memories.to_show()}
    return RollbackPreview(
        users=len(users),
        traces=traces.count(),
        users_previewed=min(len(users), MOST_USERS),
        counts=dict(total),
        memories=tuple(PreviewedMemory(rows[key], values) for key, values in changes.items() if key in rows),
        kept=kept_rows(kept[:MOST_MEMORIES], project_id=project_id),
    )


WAIT = timedelta(seconds=2)  # how long a caller waits before the rest is left to a worker
AT_ONCE = 1_000  # items per statement


def request_rollback(rollback: Rollback, *, wait: timedelta = WAIT) -> Rollback:
    """Store a rollback and start it; return it, finished if that took no longer than `wait`.

    It takes back what was accepted until now. Repeating it finds nothing left. Raises NotFound for a forced memory that
    is not of the project.
    """
    rollback.forced = sorted(set(rollback.forced))
    if Memory.objects.for_project(rollback.project_id).filter(id__in=rollback.forced).count() != len(rollback.forced):
        raise NotFound("there is no such memory to force")
    rollback.note = redact(rollback.note, policy=active_policy(project_id=rollback.project_id).redaction).text[:255]
    rollback.actor = current_actor()
    with transaction.atomic():
        rollback.save(force_insert=True)
        traces = selected_traces(rollback)
        users = traces.order_by().values_list("end_user_id", flat=True).distinct()
        items = [RollbackItem(end_user_id=user, rollback=rollback) for user in sorted(users)]
        RollbackItem.objects.bulk_create(items, batch_size=AT_ONCE)
        _record(rollback, verb="rollback_requested", users=len(items))
    _run(rollback, wait)
    return rollback


def undo_rollback(*, project_id: UUID, rollback_id: UUID, wait: timedelta = WAIT) -> Rollback:
    """Restore what a rollback took back, where it has not been changed since; repeating it changes nothing.

    Raises NotFound, Conflict for a rollback that is still running.
    """
    with transaction.atomic():
        rollback = Rollback.objects.select_for_update().filter(project_id=project_id, id=rollback_id).first()
        if rollback is None:
            raise NotFound("there is no such rollback")
        if rollback.state == RollbackState.WAITING:
            raise Conflict("the rollback is still running")
        if rollback.state == RollbackState.DONE:
            rollback.state, rollback.undone_by = RollbackState.UNDOING, current_actor()
            rollback.save(update_fields=["state", "undone_by"])
            _record(rollback, verb="rollback_undo_requested")
    _run(rollback, wait)
    return rollback


def _run(rollback: Rollback, wait: timedelta) -> None:
    if not run_rollback(rollback_id=rollback.id, most=wait):
        transaction.on_commit(lambda: queue_task("continue_rollbacks", group="rollback"))
    rollback.refresh_from_db()


def _record(rollback: Rollback, *, verb: str, **details: int) -> None:
    record(project_id=rollback.project_id, verb=verb, object_kind="rollback", object_id=rollback.id, details=details)
