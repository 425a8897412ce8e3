"""Preview a rollback: what it would take back and leave alone; nothing is written."""

from collections import Counter
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils import timezone

from apps.actions.rollbacks.history import Kept
from apps.actions.rollbacks.load_history import load_history
from apps.actions.rollbacks.one_user import rules_of
from apps.actions.rollbacks.plan import plan_rollback
from apps.actions.rollbacks.progress import ShownKept, shown_kept
from apps.actions.rollbacks.request_rollback import RollbackRequest
from apps.actions.rollbacks.roll_back_user import counts_of
from apps.memories.models import Memory
from apps.pipeline.core.operations import ReviseMemory

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
    kept: tuple[ShownKept, ...] = ()


def preview_rollback(*, request: RollbackRequest) -> RollbackPreview:
    """Plan a rollback for up to MOST_USERS end users. Raises Unfit for a selection without a condition."""
    selection = request.selection.checked()
    traces = selection.traces(project_id=request.project_id, before=timezone.now(), with_rejected=request.rerun)
    users = sorted(traces.order_by().values_list("end_user_id", flat=True).distinct())
    forced = set(request.forced)
    total: Counter[str] = Counter()
    changes: dict[UUID, dict[str, Any]] = {}
    kept: list[Kept] = []
    for user in users[:MOST_USERS]:
        ids = set(traces.filter(end_user_id=user).values_list("id", flat=True))
        history = load_history(end_user_id=user, traces=ids)
        planned = plan_rollback(history, traces=ids, forced=forced, rules=rules_of(request.project_id))
        total.update(counts_of(planned, traces=len(ids)))
        changes |= {each.memory_id: dict(each.changes) for each in planned.plan.of(ReviseMemory)}
        kept += planned.kept
    memories = Memory.objects.for_project(request.project_id).filter(id__in=list(changes)[:MOST_MEMORIES])
    rows = {row.id: row for row in memories.to_show()}
    return RollbackPreview(
        users=len(users),
        traces=traces.count(),
        users_previewed=min(len(users), MOST_USERS),
        counts=dict(total),
        memories=tuple(PreviewedMemory(rows[key], values) for key, values in changes.items() if key in rows),
        kept=shown_kept(kept[:MOST_MEMORIES], project_id=request.project_id),
    )
