"""Contradictions: two memories with their evidence on one timeline."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.console.selectors.comparisons import Comparison, load_comparisons
from apps.console.selectors.review_item import EvidenceTurns, load_evidence
from apps.memories.models import Memory, MemoryLink
from apps.memories.querysets import MemoryLinkQuerySet

_SIDES = ("from_memory", "to_memory")
_HEAVY = [f"{side}__{field}" for side in _SIDES for field in ("terms", "context_terms", "context")]


@dataclass(frozen=True, slots=True)
class ContradictionSide:
    """One of the two memories; `said`, `start` and `width` place it on the timeline, in percent."""

    name: str  # A or B
    memory: Memory
    evidence: tuple[EvidenceTurns, ...]
    said: float
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A contradiction with both sides; A was said later."""

    link: MemoryLink
    sides: tuple[ContradictionSide, ContradictionSide]
    begins: datetime
    ends: datetime
    comparison: Comparison | None  # if deduplication compared the two


def open_contradictions(*, project_id: UUID, words: str = "") -> MemoryLinkQuerySet:
    """Return the contradictions that are still open, oldest first."""
    rows = MemoryLink.objects.for_project(project_id).to_settle()
    if words:
        rows = rows.of_words(words)
    return rows.select_related("from_memory", "to_memory", "end_user").defer(*_HEAVY).order_by("created_at", "id")


def load_contradiction(link: MemoryLink, *, now: datetime) -> Contradiction:
    """Load both sides and place them on one timeline (six queries)."""
    both = (link.from_memory, link.to_memory)
    begins = min(moment for memory in both for moment in (memory.valid_from, memory.said_at))
    ends = max(now, *(memory.valid_until or now for memory in both))
    sides = (_side("A", both[0], begins, ends), _side("B", both[1], begins, ends))
    return Contradiction(
        link=link, sides=sides, begins=begins, ends=ends, comparison=load_comparisons([link]).get(link.pk)
    )


def _side(name: str, memory: Memory, begins: datetime, ends: datetime) -> ContradictionSide:
    scale = max((ends - begins).total_seconds(), 1.0)

    def at(moment: datetime) -> float:
        return round((moment - begins).total_seconds() / scale * 100, 2)

    start = min(at(memory.valid_from), 99.0)
    width = max(at(memory.valid_until or ends) - start, 1.0)
    return ContradictionSide(name, memory, load_evidence(memory), said=at(memory.said_at), start=start, width=width)
