"""What a memory meets among the live ones where no funnel looks: its twin, and whoever holds its slot."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from apps.pipeline.conflict.supersession import says_additional
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import Polarity, Status
from apps.pipeline.core.policy import SimilarityBand
from apps.pipeline.core.statement import Statement, StoredMemory
from apps.pipeline.deduplication.matching import MatchVerdict, compare

_NEVER_ALIKE = SimilarityBand(same=1, unsure=1, words=1)  # only hashes and triples are looked at


@dataclass(frozen=True, slots=True)
class SlotPlacement:
    """Where a value stands in its slot: as history before its successor, or instead of those that it closes."""

    successor: StoredMemory | None = None
    closes: tuple[StoredMemory, ...] = ()


def duplicate_of(memory: StoredMemory, live: Iterable[StoredMemory]) -> StoredMemory | None:
    """Return the live memory that says the same of the same time: equal hashes, or one triple in the same words."""
    alike = (each for each in live if each.id != memory.id and _may_be_one(memory, each))
    return next((each for each in alike if _says_the_same(memory, each)), None)


def _may_be_one(memory: StoredMemory, other: StoredMemory) -> bool:
    if memory.valid_until != other.valid_until:
        return False
    return memory.canonical_hash == other.canonical_hash or (
        _in_words(memory) == _in_words(other) and _triple(memory) == _triple(other)
    )


def _says_the_same(memory: StoredMemory, other: StoredMemory) -> bool:
    """Compare as dedupe does; one triple in the same words is told apart by nothing but the facts beside it."""
    as_other = replace(memory, canonical_hash=other.canonical_hash)
    if _in_words(memory) == _in_words(other):
        as_other = replace(as_other, content=other.content)
    return compare(as_other, other, cosine=None, band=_NEVER_ALIKE).verdict is MatchVerdict.SAME


def _in_words(memory: StoredMemory) -> str:
    return canonical_text(memory.content)


def _triple(memory: StoredMemory) -> tuple[object, ...]:
    return memory.subject_id, memory.predicate, canonical_text(memory.object_text), memory.polarity


def is_taken(canonical_hash: str, live: Iterable[StoredMemory]) -> bool:
    """Tell whether a live memory stands under a hash."""
    return any(each.canonical_hash == canonical_hash for each in live)


def takes_slot(memory: Statement) -> bool:
    """Tell whether a memory says the one value of its predicate; one that joins others doesn't."""
    is_value = memory.stateful and memory.subject_id is not None and memory.polarity is Polarity.POSITIVE
    return is_value and memory.traits.holds_slot and not says_additional(memory.evidence)


def placement_in_slot(
    memory: StoredMemory, live: Collection[StoredMemory], *, replaces: Collection[UUID] = ()
) -> SlotPlacement:
    """Return where a memory that becomes active stands: of the values of a slot, the one said last is left.

    The memories that `replaces` names are closed in any case, whatever slot they hold and whenever they were said.
    """
    named = tuple(each for each in live if each.id in replaces and each.id != memory.id)
    if not takes_slot(memory):
        return SlotPlacement(closes=named)
    holders = (each for each in live if each.id not in replaces and _is_rival(memory, each))
    rivals = sorted(holders, key=lambda each: (each.said_at, each.id))
    later = [each for each in rivals if each.said_at > memory.said_at and not _was_over(each)]
    if later:
        return SlotPlacement(successor=later[0])
    if rivals and _was_over(memory):
        return SlotPlacement(successor=rivals[-1])
    return SlotPlacement(closes=(*rivals, *named))


def _is_rival(memory: StoredMemory, other: StoredMemory) -> bool:
    slot = (memory.subject_id, memory.predicate)
    holds = other.status is Status.ACTIVE and takes_slot(other) and other.id != memory.id
    return holds and slot == (other.subject_id, other.predicate)


def _was_over(memory: StoredMemory) -> bool:
    """Tell whether a value had ended already when it was said."""
    return memory.valid_until is not None and memory.valid_until <= memory.said_at


def end_before(successor: StoredMemory, memory: StoredMemory) -> datetime:
    """Return when a value ends that gives way to its successor: no time runs backwards, and a known end stays."""
    ends = max(memory.valid_from or memory.said_at, successor.valid_from or successor.said_at)
    return ends if memory.valid_until is None else min(ends, memory.valid_until)
