"""Slots: the one value of a stateful predicate, for memories that become active by a decision."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.pipeline.conflict.supersession import says_additional
from apps.pipeline.core.enums import Polarity, Status
from apps.pipeline.core.operations import SupersedeMemory
from apps.pipeline.core.policy import SimilarityBand
from apps.pipeline.core.statement import Statement, StoredMemory
from apps.pipeline.deduplication.matching import MatchVerdict, compare

_NEVER_ALIKE = SimilarityBand(unsure=1)  # only hashes, words and triples are compared
_COMMON = ("type", "subject_id", "valid_until", "private_to")  # fields that duplicates have in common


def duplicate_of(memory: StoredMemory, live: Iterable[StoredMemory]) -> StoredMemory | None:
    """Return the live memory that says the same of the same subject, for the same time and agents."""
    for each in live:
        is_comparable = all(getattr(each, name) == getattr(memory, name) for name in _COMMON)
        if each.id == memory.id or not is_comparable:
            continue
        if compare(memory, each, cosine=None, band=_NEVER_ALIKE).verdict is MatchVerdict.SAME:
            return each
    return None


def takes_slot(memory: Statement) -> bool:
    """Return True if a memory states the one value of its predicate; an additional value doesn't."""
    is_value = memory.takes_one_value and memory.subject_id is not None and memory.polarity is Polarity.POSITIVE
    return is_value and not says_additional(memory.wording)


def in_slot(
    memory: StoredMemory, changes: Mapping[str, Any], *, live: Collection[StoredMemory], replaces: Collection[UUID] = ()
) -> tuple[dict[str, Any], list[SupersedeMemory]]:
    """Return the changes of a memory that becomes active, and the operations that close the memories that it replaces.

    `memory` has its new values. Of the values of a slot, the one said last stays; if that is another one, the memory
    becomes history instead. The memories in `replaces` are closed in any case, whatever their slot and time.
    """
    beside = [each for each in live if each.private_to == memory.private_to and each.id != memory.id]
    closes = [each for each in beside if each.id in replaces]
    if takes_slot(memory):
        holders = (each for each in beside if each.id not in replaces and _is_rival(memory, each))
        rivals = sorted(holders, key=lambda each: (each.said_at, each.id))
        later = [each for each in rivals if each.said_at > memory.said_at and not was_over(each)]
        if later or (rivals and was_over(memory)):
            successor = later[0] if later else rivals[-1]
            ended = end_before(successor, memory)
            history = {"status": Status.SUPERSEDED, "superseded_by_id": successor.id, "valid_until": ended}
            return {**changes, **history}, []
        closes = [*rivals, *closes]
    closing = [
        SupersedeMemory(
            memory_id=each.id,
            expected_version=each.version,
            superseded_by=memory.id,
            valid_until=end_before(memory, each),
        )
        for each in closes
    ]
    return dict(changes), closing


def _is_rival(memory: StoredMemory, other: StoredMemory) -> bool:
    slot = (memory.subject_id, memory.predicate)
    return other.status is Status.ACTIVE and takes_slot(other) and slot == (other.subject_id, other.predicate)


def was_over(memory: StoredMemory) -> bool:
    """Return True if a value had already ended when it was said."""
    return memory.valid_until is not None and memory.valid_until <= memory.said_at


def end_before(successor: StoredMemory, memory: StoredMemory) -> datetime:
    """Return the end of a value that a successor closes: never before its start; a known end stays."""
    ends = max(memory.valid_from or memory.said_at, successor.valid_from or successor.said_at)
    return ends if memory.valid_until is None else min(ends, memory.valid_until)
