"""Supersession: how a new statement relates to a live one with the same subject and predicate."""

import re
from enum import StrEnum

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import Polarity
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.deduplication.guard import exclusions
from apps.pipeline.lexicon.antonym_predicates import axis_of, sign_of
from apps.pipeline.lexicon.retractions import takes_back

# Words that say that something has changed: the old value has ended, which is no contradiction.
_ENDED = re.compile(
    r"\b(?:no longer|any ?more|stopped|quit|gave up|given up|used to|after all|again"
    r"|nicht mehr|wieder|ne .{1,40} plus|n['’].{1,40} plus|de nouveau|ya no|otra vez)\b",
    re.IGNORECASE,
)
# Words that say that a value is additional and replaces nothing.
_BESIDE = re.compile(
    r"\b(?:also|too|as well|second|another|besides|on the side|side job|part[- ]time"
    r"|auch|zusätzlich|außerdem|nebenbei|zweite[nrs]?|aussi|également|en plus|deuxième|también|además|segund[oa])\b",
    re.IGNORECASE,
)


_SINCE = re.compile(r"\bsince (?:19|20)\d\d\b")
# Words that say that a value is new.
_CHANGED = re.compile(
    r"\b(?:now|moved|switched|changed|instead|new|from now on|became|nowadays|these days"
    r"|jetzt|nun|neu\w*|umgezogen|gewechselt|maintenant|désormais|nouve\w+|ahora|nuev[oa])\b",
    re.IGNORECASE,
)


def says_changed(evidence: str) -> bool:
    """Return True if a quote says that something has changed."""
    return _CHANGED.search(evidence) is not None or _ENDED.search(evidence) is not None


def says_additional(evidence: str) -> bool:
    """Return True if a quote says that its value is additional to the known ones."""
    return _BESIDE.search(evidence) is not None


# "Actually, I'm not allergic to nuts": who says this about himself knows better than he said before.
_CORRECTS = re.compile(
    r"^\W*(?:(?:oh|no|hm+|well|ok|okay|sorry|ah|wait),? )*(?:actually|correction|in fact"
    r"|scratch that|strike that|my mistake|my bad|it turns out|turns out|i was (?:wrong|mistaken)"
    r"|i take that back|i misspoke|that(?:['’]s| is| was) (?:wrong|not true|not right))\b"
    r"|\b(?:as it turns out|turned out|contrary to what i (?:said|told)|i (?:said"
    r"|told you) (?:that )?(?:wrong|by mistake)|by the way that was wrong|stimmt (?:doch )?nicht"
    r"|en fait|en realidad)\b",
    re.IGNORECASE,
)


_OF_ONESELF = re.compile(r"\b(?:i|i['’]m|im|i['’]ve|my|we|ich|je|yo|soy|suis|bin)\b", re.IGNORECASE)


def corrects_itself(evidence: str) -> bool:
    """Return True if a quote firmly corrects what its speaker has said about himself or herself."""
    return _CORRECTS.search(evidence) is not None and _OF_ONESELF.search(evidence) is not None


class PairRelation(StrEnum):
    """How a new statement relates to a live one."""

    REPLACES = "replaces"  # one of them ends where the other begins
    CONTRADICTS = "contradicts"
    COEXISTS = "coexists"


def relate(memory: StoredMemory, rival: StoredMemory, *, additive: bool, evidence: str) -> PairRelation:
    """Relate a new memory to a live one; `additive` says that its quote calls the value additional.

    A value that the quote retracts is replaced. Otherwise events never replace or contradict: each of them happened.
    """
    if not _share_a_slot(memory, rival):
        return PairRelation.COEXISTS
    return _relate_in_slot(memory, rival, additive=additive, evidence=evidence)


def _relate_in_slot(memory: StoredMemory, rival: StoredMemory, *, additive: bool, evidence: str) -> PairRelation:
    """Relate two values of one slot."""
    if is_taken_back(rival, by=memory, evidence=evidence):
        return PairRelation.REPLACES
    if not (memory.traits.holds_slot and rival.traits.holds_slot):
        return PairRelation.COEXISTS
    stateful = memory.stateful and memory.predicate == rival.predicate
    both_hold = memory.polarity is rival.polarity is Polarity.POSITIVE
    # Two values of a slot can share words and still exclude each other: 3 days a week, 5 days a week.
    tells_more_than_value = stateful and both_hold and exclusions(memory.content, rival.content)
    if same_value(memory, rival) and not tells_more_than_value:
        return _of_equal_value(memory, rival, stateful=stateful, evidence=evidence)
    # "Lives in Lisbon since 2019" does not end with "we live in Lumiar", a part of it, which says of no change.
    lasts = _SINCE.search(rival.content) is not None and not says_changed(evidence)
    return PairRelation.REPLACES if stateful and both_hold and not (additive or lasts) else PairRelation.COEXISTS


def _share_a_slot(one: StoredMemory, two: StoredMemory) -> bool:
    return one.subject_id == two.subject_id and axis_of(one.predicate) == axis_of(two.predicate)


def is_taken_back(rival: StoredMemory, *, by: StoredMemory, evidence: str) -> bool:
    """Return True if a quote retracts an earlier value: "I use Neovim, not Vim"."""
    both_affirm = by.polarity is rival.polarity is Polarity.POSITIVE
    if rival.said_at > by.said_at or not both_affirm or not _share_a_slot(by, rival):
        return False
    pairs = ((by.object_text, rival.object_text), (by.content, rival.content))
    return any(takes_back(evidence, value=value, former=former) for value, former in pairs)


def _of_equal_value(memory: StoredMemory, rival: StoredMemory, *, stateful: bool, evidence: str) -> PairRelation:
    sides = {sign_of(each.predicate, polarity=each.polarity) for each in (memory, rival)}
    if len(sides) == 1:
        return PairRelation.COEXISTS
    ended = _ENDED.search(evidence) or _ENDED.search(memory.content) or corrects_itself(evidence)
    return PairRelation.REPLACES if stateful or ended else PairRelation.CONTRADICTS


def same_value(one: StoredMemory, two: StoredMemory) -> bool:
    """Return True if two triples have the same object; without objects, if their sentences are equal."""
    first, second = canonical_text(one.object_text), canonical_text(two.object_text)
    if first or second:
        return first == second
    return canonical_text(one.content) == canonical_text(two.content)
