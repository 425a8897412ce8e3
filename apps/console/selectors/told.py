"""What an agent is told about an end user: each line with its memories, and what just missed being told."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from apps.actions.memories.explain_recall import ExplainedBlock, Recall
from apps.console.selectors.recall import reason_of
from apps.memories.models import Memory
from apps.memories.querysets import MemoryQuerySet
from apps.pipeline.core.enums import Status
from apps.retrieval.block import BlockSection
from apps.retrieval.explain import Exclusion

MOST_MISSED = 15
_OVER_BUDGET = "the budget is used up"
# What a near miss lacks, the nearest first; memories that are history come last.
_NEARNESS = (
    Exclusion.CONFIDENCE,
    Exclusion.LIMIT,
    Exclusion.MIN_SCORE,
    Exclusion.UNRELATED,
    Exclusion.NOT_YET_VALID,
    Exclusion.EXPIRED,
    Exclusion.NO_LONGER_VALID,
    Exclusion.STATUS,
)


@dataclass(frozen=True, slots=True)
class ToldLine:
    """A line of the block, and the memories that it tells."""

    section: str
    text: str
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class MissedMemory:
    """A memory that the block does not tell, and why."""

    memory: Memory
    reason: str


@dataclass(frozen=True, slots=True)
class ToldBlock:
    """A block by lines, in the order in which it is printed, and the nearest of `missed_count` memories left out."""

    text: str
    tokens: int
    lines: tuple[ToldLine, ...]
    missed: tuple[MissedMemory, ...]
    missed_count: int


def told_block(recall: Recall, block: ExplainedBlock, *, end_user_id: UUID) -> ToldBlock:
    """Return the lines of an explained block with their memories (one query)."""
    ids = {each for line in (*block.lines.shown, *block.lines.omitted) for each in line.memory_ids}
    rows: MemoryQuerySet = Memory.objects.for_end_user(end_user_id)
    known = {row.pk: row for row in rows.filter(pk__in=ids).to_show()}
    missed = list(_missed(recall, block, known))
    lines = []
    for line in sorted(block.lines.shown, key=lambda line: _SECTIONS[line.section]):
        memories = tuple(known[each] for each in line.memory_ids if each in known)
        lines.append(ToldLine(line.section.value.rstrip(":"), line.text.removeprefix("- "), memories))
    return ToldBlock(
        text=block.block.text,
        tokens=block.block.tokens,
        lines=tuple(lines),
        missed=tuple(missed[:MOST_MISSED]),
        missed_count=len(missed),
    )


def _missed(recall: Recall, block: ExplainedBlock, known: Mapping[UUID, Memory]) -> Iterator[MissedMemory]:
    """Yield what waits for review, what the budget leaves out, and what else was considered, the nearest first."""
    omitted = [key for line in block.lines.omitted for key in line.memory_ids if key in known]
    placed = {*omitted, *(key for line in block.lines.shown for key in line.memory_ids)}
    considered = [(each.hit.memory, each.exclusion) for each in recall.search.scored]
    considered += [(each.memory, each.exclusion) for each in recall.search.unscored]
    left_out = [(memory, why) for memory, why in considered if why is not None and memory.pk not in placed]
    left_out.sort(key=lambda each: _NEARNESS.index(each[1]))
    yield from (_missed_for(memory, why) for memory, why in left_out if memory.status == Status.PENDING_REVIEW)
    yield from (MissedMemory(known[key], _OVER_BUDGET) for key in omitted)
    yield from (_missed_for(memory, why) for memory, why in left_out if memory.status != Status.PENDING_REVIEW)


def _missed_for(memory: Memory, why: Exclusion) -> MissedMemory:
    if why is not Exclusion.STATUS:
        return MissedMemory(memory, reason_of(why))
    is_pending = memory.status == Status.PENDING_REVIEW
    return MissedMemory(memory, "it waits for review" if is_pending else f"it is {memory.status}")


_SECTIONS = {section: place for place, section in enumerate(BlockSection)}
