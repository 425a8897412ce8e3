"""Supersession: how a new statement relates to a live one with the same subject and predicate."""

import re
from enum import StrEnum

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import Polarity
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.deduplication.guard import exclusions
from apps.pipeline.lexicon.antonym_predicates import axis_of, sign_of

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
    if _same_value(memory, rival) and not are_exclusive:
        sides = {sign_of(each.predicate, polarity=each.polarity) for each in (memory, rival)}
        if len(sides) == 1:
            return PairRelation.COEXISTS
        has_ended = _ENDED.search(evidence) or _ENDED.search(memory.content)
        return PairRelation.REPLACES if has_one_value or has_ended else PairRelation.CONTRADICTS
    if not (has_one_value and both_hold) or says_additional(evidence) or says_additional(rival.wording):
        return PairRelation.COEXISTS
    return PairRelation.REPLACES


def _same_value(one: StoredMemory, two: StoredMemory) -> bool:
    """Return True if two triples have the same object; without objects, if their sentences are equal."""
    first, second = canonical_text(one.object_text), canonical_text(two.object_text)
    if first or second:
        return first == second
    return canonical_text(one.content) == canonical_text(two.content)
