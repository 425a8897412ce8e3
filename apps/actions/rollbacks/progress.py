"""How far a rollback is, and what it has left alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q

from apps.actions.rollbacks.history import Kept
from apps.actions.rollbacks.one_user import kept_from_json
from apps.memories.models import Memory, Rollback, RollbackItem
from apps.pipeline.core.enums import LeftAlone, RollbackState
from apps.traces.models import Trace

MOST_LISTED = 500


@dataclass(frozen=True, slots=True)
class ShownKept:
    """What was left alone and why: a memory, or a trace that stored nothing because it repeats what is taken back."""

    reason: LeftAlone
    can_be_forced: bool
    memory: Memory | None = None
    trace: Trace | None = None


@dataclass(frozen=True, slots=True)
class RollbackProgress:
    """The numbers of end users, and the memories that were left alone, of some end users at most."""

    users: int
    waiting: int  # users for whom the rollback, or its undo, isn't done yet
    kept: tuple[ShownKept, ...] = ()


def progress_of(rollback: Rollback) -> RollbackProgress:
    """Return the progress of a rollback (three queries)."""
    items = RollbackItem.objects.filter(rollback=rollback)
    todo = RollbackState.DONE if rollback.state == RollbackState.UNDOING else RollbackState.WAITING
    counted = items.aggregate(users=Count("id"), waiting=Count("id", filter=Q(state=todo)))
    lists = items.exclude(left_alone=[]).order_by("id").values_list("left_alone", flat=True)[:MOST_LISTED]
    kept = [each for some in lists for each in kept_from_json(some)][:MOST_LISTED]
    waiting = 0 if rollback.is_over else counted["waiting"]
    shown = shown_kept(kept, project_id=rollback.project_id)
    return RollbackProgress(users=counted["users"], waiting=waiting, kept=shown)


def shown_kept(kept: Sequence[Kept], *, project_id: UUID) -> tuple[ShownKept, ...]:
    """Return what was left alone with its memories and traces, without those deleted since (two queries)."""
    ids = {each.memory_id for each in kept if each.memory_id}
    memories = {row.id: row for row in Memory.objects.for_project(project_id).filter(id__in=ids).to_show()}
    named = {each.trace_id for each in kept if each.trace_id}
    rows = Trace.objects.filter(project_id=project_id, id__in=named).select_related("end_user")
    traces = {row.id: row for row in rows.defer("plan", "outcomes")}
    found = (
        ShownKept(
            each.reason,
            each.can_be_forced,
            memory=memories.get(each.memory_id) if each.memory_id else None,
            trace=traces.get(each.trace_id) if each.trace_id else None,
        )
        for each in kept
    )
    return tuple(each for each in found if each.memory or each.trace)
