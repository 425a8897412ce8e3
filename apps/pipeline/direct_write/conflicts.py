"""Duplicates of directly written memories, and values in their slots, among the live memories."""

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

_NEVER_ALIKE = SimilarityBand(unsure=1)  # only hashes and triples are looked at


@dataclass(frozen=True, slots=True)
class SlotPlacement:
    """The position of a value in its slot: history before its successor, or the current value that closes others."""

    successor: StoredMemory | None = None
    closes: tuple[StoredMemory, ...] = ()


def duplicate_of(memory: StoredMemory, live: Iterable[StoredMemory]) -> StoredMemory | None:
    """Return the live memory that says the same about the same time: an equal hash, or the triple in equal words."""
    alike = (each for each in live if each.id != memory.id and _may_be_one(memory, each))
    return next((each for each in alike if _says_the_same(memory, each)), None)


def _may_be_one(memory: StoredMemory, other: StoredMemory) -> bool:
    same = ("type", "subject_id", "valid_until", "private_to")
    if any(getattr(memory, name) != getattr(other, name) for name in same):
        return False
    return memory.canonical_hash == other.canonical_hash or (
        _in_words(memory) == _in_words(other) and _triple(memory) == _triple(other)
    )


def _says_the_same(memory: StoredMemory, other: StoredMemory) -> bool:
    """Compare as dedupe does; the same triple in the same words can only differ in the other fields."""
    as_other = replace(memory, canonical_hash=other.canonical_hash)
    if _in_words(memory) == _in_words(other):
        as_other = replace(as_other, content=other.content)
    return compare(as_other, other, cosine=None, band=_NEVER_ALIKE).verdict is MatchVerdict.SAME


def _in_words(memory: StoredMemory) -> str:
    return canonical_text(memory.content)


def _triple(memory: StoredMemory) -> tuple[object, ...]:
    return memory.subject_id, memory.predicate, canonical_text(memory.object_text), memory.polarity


def is_taken(memory: StoredMemory, live: Iterable[StoredMemory]) -> bool:
    """Return True if a live memory that is told to the same agents has the hash of a memory."""
    wanted = memory.private_to, memory.canonical_hash
    return any((each.private_to, each.canonical_hash) == wanted for each in live)


def takes_slot(memory: Statement) -> bool:
    """Return True if a memory states the one value of its predicate; an additional value doesn't."""
    is_value = memory.stateful and memory.subject_id is not None and memory.polarity is Polarity.POSITIVE
    return is_value and memory.traits.holds_slot and not says_additional(memory.evidence)


def placement_in_slot(
    memory: StoredMemory, live: Collection[StoredMemory], *, replaces: Collection[UUID] = ()
) -> SlotPlacement:
    """Return the position of a memory that becomes active: of the values of a slot, the one said last stays.

    The memories in `replaces` are closed in any case, whatever their slot and time.
    """
    beside = [each for each in live if each.private_to == memory.private_to and each.id != memory.id]
    named = tuple(each for each in beside if each.id in replaces)
    if not takes_slot(memory):
        return SlotPlacement(closes=named)
    holders = (each for each in beside if each.id not in replaces and _is_rival(memory, each))
    rivals = sorted(holders, key=lambda each: (each.said_at, each.id))
    later = [each for each in rivals if each.said_at > memory.said_at and not _was_over(each)]
    if later:
        return SlotPlacement(successor=later[0])
    if rivals and _was_over(memory):
        return SlotPlacement(successor=rivals[-1])
    return SlotPlacement(closes=(*rivals, *named))


def _is_rival(memory: StoredMemory, other: StoredMemory) -> bool:
    slot = (memory.subject_id, memory.predicate)
    return other.status is Status.ACTIVE and takes_slot(other) and slot == (other.subject_id, other.predicate)


def _was_over(memory: StoredMemory) -> bool:
    """Return True if a value had already ended when it was said."""
    return memory.valid_until is not None and memory.valid_until <= memory.said_at


def end_before(successor: StoredMemory, memory: StoredMemory) -> datetime:
    """Return the end of a value that a successor closes: never before its start; a known end stays."""
    ends = max(memory.valid_from or memory.said_at, successor.valid_from or successor.said_at)
    return ends if memory.valid_until is None else min(ends, memory.valid_until)
