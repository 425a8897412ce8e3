"""How far a rollback is, and what it has left alone."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q

from apps.memories.models import Memory, Rollback, RollbackItem
from apps.pipeline.core.enums import LeftAlone, RollbackState
from apps.pipeline.rollback.history import Kept

MOST_LISTED = 500


@dataclass(frozen=True, slots=True)
class RollbackProgress:
    """The numbers of end users, and the memories that were left alone, of some end users at most."""

    users: int
    waiting: int  # users for whom the rollback, or its undo, isn't done yet
    kept: tuple[tuple[Memory, Kept], ...] = ()


def progress_of(rollback: Rollback) -> RollbackProgress:
    """Return the progress of a rollback (three queries)."""
    items = RollbackItem.objects.filter(rollback=rollback)
    todo = RollbackState.DONE if rollback.state == RollbackState.UNDOING else RollbackState.WAITING
    counted = items.aggregate(users=Count("id"), waiting=Count("id", filter=Q(state=todo)))
    lists = items.exclude(left_alone=[]).order_by("id").values_list("left_alone", flat=True)[:MOST_LISTED]
    kept = [
        Kept(UUID(each["memory"]), LeftAlone(each["reason"]), can_be_forced=each["can_be_forced"])
        for some in lists
        for each in some
    ][:MOST_LISTED]
    rows = Memory.objects.for_project(rollback.project_id).filter(id__in={each.memory_id for each in kept})
    by_id = {row.id: row for row in rows.to_show()}
    waiting = 0 if rollback.is_over else counted["waiting"]
    found = tuple((by_id[each.memory_id], each) for each in kept if each.memory_id in by_id)
    return RollbackProgress(users=counted["users"], waiting=waiting, kept=found)
