"""Two memories that can't both be right, with their sources, on one line of time."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.console.selectors.case import SourceTurns, sources_of
from apps.console.selectors.compared import Compared, compared
from apps.memories.models import Memory, MemoryLink
from apps.memories.querysets import MemoryLinkQuerySet

_SIDES = ("from_memory", "to_memory")
_HEAVY = [f"{side}__{field}" for side in _SIDES for field in ("terms", "context_terms", "context")]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two, with its place on the line: when it was said and while it is true, in hundredths."""

    name: str  # A or B
    memory: Memory
    sources: tuple[SourceTurns, ...]
    said: float
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Pair:
    """A contradiction as a person looks at it; A was said later."""

    link: MemoryLink
    sides: tuple[Side, Side]
    begins: datetime
    ends: datetime
    compared: Compared | None  # what stage 4 found of them


def to_settle(*, project_id: UUID, words: str = "") -> MemoryLinkQuerySet:
    """Return what a person has yet to settle, the oldest first."""
    rows = MemoryLink.objects.for_project(project_id).to_settle()
    if words:
        rows = rows.of_words(words)
    return rows.select_related("from_memory", "to_memory", "end_user").defer(*_HEAVY).order_by("created_at", "id")


def pair_of(link: MemoryLink, *, now: datetime) -> Pair:
    """Put both sides on one line of time (six queries)."""
    both = (link.from_memory, link.to_memory)
    begins = min(moment for memory in both for moment in (memory.valid_from, memory.said_at))
    ends = max(now, *(memory.valid_until or now for memory in both))
    sides = (_side("A", both[0], begins, ends), _side("B", both[1], begins, ends))
    return Pair(link=link, sides=sides, begins=begins, ends=ends, compared=compared([link]).get(link.pk))


def _side(name: str, memory: Memory, begins: datetime, ends: datetime) -> Side:
    scale = max((ends - begins).total_seconds(), 1.0)

    def at(moment: datetime) -> float:
        return round((moment - begins).total_seconds() / scale * 100, 2)

    start = min(at(memory.valid_from), 99.0)
    width = max(at(memory.valid_until or ends) - start, 1.0)
    return Side(name, memory, sources_of(memory), said=at(memory.said_at), start=start, width=width)
