"""Supersession: how a new statement relates to a live one with the same subject and predicate."""

import re
from enum import StrEnum

from apps.pipeline.conflict.diets import ends_diet
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import Polarity
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.deduplication.difference_checks import contradictions
from apps.pipeline.deduplication.ended_things import ends_thing
from apps.pipeline.lexicon.antonym_predicates import axis_of, sign_of
from apps.pipeline.lexicon.function_words import SMALL
from apps.pipeline.lexicon.numerals import in_digits
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


_AMOUNT = re.compile(r"(?<![\w.,:/-])\d+(?:[.,]\d+)?(?![\w:/-])")
_BESIDE_AMOUNTS = frozenset({"now", "only", "per"})
_FREQUENCY = re.compile(
    r"\b(?:every (?:(?:other|second|third|fourth|fifth|sixth|two|three|four|five|six|\d+) )?"
    r"(?:days?|nights?|weeks?|weekends?|months?|years?)"
    r"|(?:once|twice|(?:two|three|four|five|six|\d+) times) (?:a|per) (?:day|week|month|year))\b"
)
_VERSION = re.compile(r" ?\bv?\d[\d.]*\b")
_SINCE_WHEN = re.compile(r"\bsince\b", re.IGNORECASE)
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
    if ends_thing(memory, rival) or _leaves_home(memory, rival, evidence):
        return PairRelation.REPLACES
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
    tells_more_than_value = stateful and both_hold and contradictions(memory.content, rival.content)
    if both_hold and (_is_other_dose(memory, rival) or (_is_other_version(memory, rival) and not additive)):
        return PairRelation.REPLACES
    is_other = _is_other_amount(memory, rival) or _is_other_frequency(memory, rival)
    if ends_diet(memory, rival) or (both_hold and not additive and is_other and says_changed(evidence)):
        return PairRelation.REPLACES
    if same_value(memory, rival) and not tells_more_than_value:
        return _of_equal_value(memory, rival, stateful=stateful, evidence=evidence)
    # "Lives in Lisbon since 2019" does not end with "we live in Lumiar", a part of it, which says of no change.
    lasts = _SINCE.search(rival.content) is not None and not says_changed(evidence)
    return PairRelation.REPLACES if stateful and both_hold and not (additive or lasts) else PairRelation.COEXISTS


def _leaves_home(memory: StoredMemory, rival: StoredMemory, evidence: str) -> bool:
    """Return True for a new town where the older statement tells of a flat or house in another one."""
    is_home = memory.predicate == "lives_in" and rival.predicate == "home" and memory.subject_id == rival.subject_id
    is_new = says_changed(evidence) or _SINCE_WHEN.search(evidence) is not None
    both_hold = memory.polarity is rival.polarity is Polarity.POSITIVE
    return is_home and is_new and both_hold and canonical_text(memory.object_text) not in canonical_text(rival.content)


def _is_other_dose(one: StoredMemory, two: StoredMemory) -> bool:
    """Return True for the same medicine in two doses: one takes many medicines, but each in one dose at a time."""
    is_medicine = one.predicate == two.predicate == "takes_medication"
    return is_medicine and same_value(one, two) and bool(contradictions(one.content, two.content))


def _is_other_version(one: StoredMemory, two: StoredMemory) -> bool:
    """Return True for one tool in two versions: "Postgres 14", "Postgres 17"."""
    first, second = canonical_text(one.object_text), canonical_text(two.object_text)
    if one.predicate != "uses" or two.predicate != "uses" or first == second:
        return False
    named = _VERSION.sub("", first)
    return bool(named) and named == _VERSION.sub("", second)


def _is_other_amount(one: StoredMemory, two: StoredMemory) -> bool:
    """Return True for the same thing in two amounts: "drinks five coffees a day", "drinks only two coffees a day"."""
    first, second = in_digits(one.object_text), in_digits(two.object_text)
    amounts = [_AMOUNT.findall(each) for each in (first, second)]
    if one.predicate != two.predicate or len(amounts[0]) != 1 or len(amounts[1]) != 1 or amounts[0] == amounts[1]:
        return False
    bare = [
        [word for word in canonical_text(_AMOUNT.sub(" ", each)).split() if word not in SMALL | _BESIDE_AMOUNTS]
        for each in (first, second)
    ]
    return bool(bare[0]) and bare[0] == bare[1]


def _is_other_frequency(one: StoredMemory, two: StoredMemory) -> bool:
    """Return True for the same in two frequencies: "is on call every third week", "… every fourth week"."""
    if one.predicate != two.predicate or two.said_at >= one.said_at:
        return False
    first, second = (_FREQUENCY.findall(canonical_text(each.content)) for each in (one, two))
    if len(first) != 1 or len(second) != 1 or first == second:
        return False
    bare = [" ".join(_FREQUENCY.sub(" ", canonical_text(each.content)).split()) for each in (one, two)]
    return bare[0] == bare[1]


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
