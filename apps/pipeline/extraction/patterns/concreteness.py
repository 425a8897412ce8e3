"""How far a statement shows that it lasts and can be understood later; what does not is left for a person to decide.

A small sum of what can be seen without knowing the world. Kinds of statements that last by themselves (health, home,
work, family, standing rules) start high; events, plans and anything told in free words start low and need a name, a
number, a date or a regular time; what is denied is mostly denied for good. Words of the moment and words that point at
something else count against it.
"""

import re2

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.statement import Candidate
from apps.pipeline.lexicon import verbs
from apps.pipeline.lexicon.calendar import MONTHS, NAMES, WEEKDAYS
from apps.pipeline.lexicon.tables import alternation

ENOUGH = 0.5

_LASTING_IMPORTANCE = 0.7  # of health, home, work, family, identity, sums and standing rules
_USUAL_IMPORTANCE = 0.5
_STARTS_HIGH, _STARTS_USUAL, _STARTS_LOW = 1.0, 0.5, 0.25
_GAIN, _SMALL_GAIN, _LOSS, _SMALL_LOSS, _GREAT_LOSS = 0.5, 0.25, 0.5, 0.25, 0.75

_NAMED = re2.compile(r"[^.!?] (?:\p{Lu}|\p{Ll}+\p{Lu})[\p{L}\d]|\d")
_WHEN = re2.compile(
    rf"(?i)\b(?:every|each|always|usually|since|daily|weekly|monthly|twice|once a|times a|(?:a|per) (?:day|week|month|year)|years?|to (?:work|school|uni|college)|\w+days|{alternation(NAMES)})\b"
)
_OF_THE_MOMENT = re2.compile(
    r"(?i)\b(?:today|tonight|yesterday|just|right now|at the moment|currently|this (?:morning|afternoon|evening|week|one)|already|again and again|way too|so far|all day|later|soon)\b"
)
# A day of this week, without its date, says nothing next week.
_PASSING_DAY = re2.compile(
    rf"(?i)(?:\b(?:on|this|next|by|until|coming) )?\b(?:{alternation(WEEKDAYS)})\b(?: (?:morning|afternoon|evening|night))?"
)
# "on Tuesday and Thursday" is regular
_SEVERAL_DAYS = re2.compile(rf"(?i)\b(?:{alternation(WEEKDAYS)})s?(?:,| and|, and| &|/)? ?(?:{alternation(WEEKDAYS)})")
_DATE = re2.compile(rf"(?i)\d(?:st|nd|rd|th)\b|\b(?:{alternation(MONTHS)}) \d|\d (?:{alternation(MONTHS)})\b")
_DATED = re2.compile(
    rf"(?i)\d(?:st|nd|rd|th)?\b|\b(?:every|each|last|{alternation(MONTHS)})\b|\b(?:{alternation(WEEKDAYS)})(?:s\b| (?:mornings|afternoons|evenings|nights)\b)"
)
# What is to happen if something else does is no plan yet.
_DEPENDS = re2.compile(r"(?i)\b(?:if|unless|in case|provided|depending on)\b")
_POINTS = re2.compile(r"(?i)\b(?:it|that|this|these|those|there|here|them|ones?|stuff|things?|something|everything)\b")
_DEFINITE = re2.compile(r"^\S+ (?:is |has |was )?\S+(?: up| on)? the \p{Ll}")
_NAMED_WITH_ARTICLE = frozenset({"plays"})  # predicates whose objects are named with it: "plays the cello"
_DID_NOT = re2.compile(r"^they did not \p{L}+[.]?$")  # "did not sleep": once
_DENIES = re2.compile(r"(?i)\b(?:not|never|no longer|cannot|no)\b")


def is_concrete(candidate: Candidate, *, name: str) -> bool:
    """Return True if a statement of somebody who talks to an assistant can be kept without a person's decision."""
    return concreteness_of(candidate, name=name) >= ENOUGH


def concreteness_of(candidate: Candidate, *, name: str) -> float:
    """Return the sum of what shows that a statement lasts, about -1 to 2; the weights were set by judgement."""
    said = candidate.content.replace(f"{name}'s", "their").replace(name, "they")
    is_passing = _is_passing(said)
    said = _PASSING_DAY.sub("", said) if is_passing else said
    is_named = _NAMED.search(f". {said.partition(' ')[2]}") is not None
    is_timed = _WHEN.search(said) is not None
    score = _start_of(candidate)
    score += _GAIN * is_named + _GAIN * is_timed + _SMALL_GAIN * (candidate.type is MemoryType.PREFERENCE)
    score += _SMALL_GAIN * (_DENIES.search(said) is not None)
    score -= _LOSS * (_OF_THE_MOMENT.search(said) is not None) + _LOSS * (_POINTS.search(said) is not None)
    depends = _DEPENDS.search(said) is not None and (
        candidate.type is MemoryType.EVENT or _DATE.search(said) is not None
    )
    score -= _GREAT_LOSS * (is_passing or depends)
    score -= _GREAT_LOSS * (_DID_NOT.match(said) is not None)
    is_definite = candidate.predicate not in _NAMED_WITH_ARTICLE and _DEFINITE.match(said) is not None
    return score - _SMALL_LOSS * (is_definite and not is_named)


def _is_passing(said: str) -> bool:
    """Return True for what is on a day of this week; what was then stays true."""
    if _SEVERAL_DAYS.search(said):
        return False
    is_past = any(verbs.must_be_past(word) for word in said.split()[1:4])
    return not is_past and _PASSING_DAY.search(said) is not None and _DATED.search(said) is None


def _start_of(candidate: Candidate) -> float:
    if candidate.importance >= _LASTING_IMPORTANCE:
        return _STARTS_HIGH
    is_usual = candidate.importance >= _USUAL_IMPORTANCE and candidate.type is not MemoryType.EVENT
    return _STARTS_USUAL if is_usual else _STARTS_LOW
