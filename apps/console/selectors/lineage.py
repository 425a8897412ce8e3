"""Where a memory comes from and what became of it: the trace that wrote it, what it replaced, what replaced it."""

from dataclasses import dataclass
from uuid import UUID

from apps.memories.models import Memory
from apps.pipeline.core.enums import Status

MOST_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Lineage:
    """The memories before and after one, latest first, and the trace that wrote it."""

    trace_id: UUID | None  # None if it was stored directly
    replaced: tuple[Memory, ...]
    absorbed: tuple[Memory, ...]  # merged into it, because they say the same
    successor: Memory | None  # that replaced it, or that it was merged into


def load_lineage(memory: Memory) -> Lineage:
    """Load the neighbours of a memory in its history (one query, two if another memory followed it)."""
    mine = Memory.objects.for_end_user(memory.end_user_id).to_show()
    closed = mine.filter(superseded_by=memory.pk).order_by("-updated_at", "id")[: 2 * MOST_SHOWN]
    before = {status: tuple(each for each in closed if each.status == status)[:MOST_SHOWN] for status in Status}
    after = mine.filter(pk=memory.superseded_by_id).first() if memory.superseded_by_id else None
    return Lineage(
        trace_id=memory.trace_id,
        replaced=before[Status.SUPERSEDED],
        absorbed=before[Status.MERGED],
        successor=after,
    )
