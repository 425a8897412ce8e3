"""Slots: the one value of a stateful predicate, and how a new statement relates to a live one."""

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import Polarity, Status
from apps.pipeline.core.operations import SupersedeMemory
from apps.pipeline.core.policy import SimilarityBand
from apps.pipeline.core.statement import Statement, StoredMemory
from apps.pipeline.deduplication.guard import exclusions
from apps.pipeline.deduplication.matching import MatchVerdict, compare
from apps.pipeline.lexicon.antonym_predicates import axis_of, sign_of

_NEVER_ALIKE = SimilarityBand(unsure=1)  # only hashes, words and triples are compared
_COMMON = ("type", "subject_id", "valid_until", "private_to")  # fields that duplicates have in common
# Words that say that something has changed or was wrong: the old value has ended, which is no contradiction.
_ENDED = re.compile(
    r"\b(?:no longer|any ?more|stopped|quit|gave up|given up|used to|after all|again"
    r"|actually|correction|turns out|my mistake"
    r"|nicht mehr|wieder|ne .{1,40} plus|n['’].{1,40} plus|de nouveau|ya no|otra vez)\b",
    re.IGNORECASE,
)
_CHANGED = re.compile(
    r"\b(?:now|moved|switched|changed|instead|new|from now on|became|nowadays|these days"
    r"|jetzt|nun|neu\w*|umgezogen|gewechselt|maintenant|désormais|nouve\w+|ahora|nuev[oa])\b",
    re.IGNORECASE,
)
# Words that say that a value is additional and replaces nothing.
_BESIDE = re.compile(
    r"\b(?:also|too|as well|second|another|besides|on the side|side job|part[- ]time"
    r"|auch|zusätzlich|außerdem|nebenbei|zweite[nrs]?|aussi|également|en plus|deuxième|también|además|segund[oa])\b",
    re.IGNORECASE,
)


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
        active = (each for each in beside if each.id not in replaces and each.status is Status.ACTIVE)
        slot = (memory.subject_id, memory.predicate)
        holders = (each for each in active if takes_slot(each) and slot == (each.subject_id, each.predicate))
        rivals = sorted(holders, key=lambda each: (each.said_at, each.id))
        later = [each for each in rivals if each.said_at > memory.said_at and not was_over(each)]
        if later or (rivals and was_over(memory)):
            successor = later[0] if later else rivals[-1]
            ended = end_before(successor, memory)
            history = {"status": Status.SUPERSEDED, "superseded_by_id": successor.id, "valid_until": ended}
            return {**changes, **history}, []
        closes = [*rivals, *closes]
    return dict(changes), [
        SupersedeMemory(
            memory_id=each.id,
            expected_version=each.version,
            superseded_by=memory.id,
            valid_until=end_before(memory, each),
        )
        for each in closes
    ]


def was_over(memory: StoredMemory) -> bool:
    """Return True if a value had already ended when it was said."""
    return memory.valid_until is not None and memory.valid_until <= memory.said_at


def end_before(successor: StoredMemory, memory: StoredMemory) -> datetime:
    """Return the end of a value that a successor closes: never before its start; a known end stays."""
    ends = max(memory.valid_from or memory.said_at, successor.valid_from or successor.said_at)
    return ends if memory.valid_until is None else min(ends, memory.valid_until)


class PairRelation(StrEnum):
    """How a new statement relates to a live one."""

    REPLACES = "replaces"  # one of them ends where the other begins
    CONTRADICTS = "contradicts"
    COEXISTS = "coexists"


def says_changed(evidence: str) -> bool:
    """Return True if a quote says that something has changed."""
    return _CHANGED.search(evidence) is not None or _ENDED.search(evidence) is not None


def says_additional(evidence: str) -> bool:
    """Return True if a quote says that its value is additional to the known ones."""
    return _BESIDE.search(evidence) is not None


def relate(memory: StoredMemory, rival: StoredMemory, *, evidence: str) -> PairRelation:
    """Relate a new memory to a live one by their slots; events never replace or contradict: each of them happened."""
    if not memory.predicate or memory.subject_id != rival.subject_id:
        return PairRelation.COEXISTS
    hold_slots = memory.traits.holds_slot and rival.traits.holds_slot
    if not hold_slots or axis_of(memory.predicate) != axis_of(rival.predicate):
        return PairRelation.COEXISTS
    has_one_value = memory.stateful and memory.predicate == rival.predicate
    both_hold = memory.polarity is rival.polarity is Polarity.POSITIVE
    # Two values of a slot can share words and still exclude each other: 3 days a week, 5 days a week.
    are_exclusive = has_one_value and both_hold and bool(exclusions(memory.content, rival.content))
    values = {canonical_text(each.object_text) for each in (memory, rival)}
    if not any(values):  # without objects, equal sentences have the same value
        values = {canonical_text(each.content) for each in (memory, rival)}
    if len(values) == 1 and not are_exclusive:
        sides = {sign_of(each.predicate, polarity=each.polarity) for each in (memory, rival)}
        if len(sides) == 1:
            return PairRelation.COEXISTS
        has_ended = _ENDED.search(evidence) or _ENDED.search(memory.content)
        return PairRelation.REPLACES if has_one_value or has_ended else PairRelation.CONTRADICTS
    if not (has_one_value and both_hold) or says_additional(evidence) or says_additional(rival.wording):
        return PairRelation.COEXISTS
    return PairRelation.REPLACES
