"""Values of nouns with one value at a time: "the budget is now 7500 euros", "my appointment moved to the 14th"."""

from dataclasses import dataclass

import re2

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.predicates import DATED_NOUNS, MEASURED_NOUNS
from apps.pipeline.extraction.patterns.pattern import Pattern, trim_object
from apps.pipeline.lexicon.calendar import NAMES
from apps.pipeline.lexicon.tables import alternation

_NOUNS = DATED_NOUNS | MEASURED_NOUNS
_NOUN = rf"(?P<noun>(?i:{alternation({*DATED_NOUNS, *MEASURED_NOUNS})}))(?: of [a-z-]+)?"
_OWNED = rf"^(?P<owner>(?i:my|our|the)) (?P<thing>(?:[A-Za-z][\w'-]* ){{0,3}}?{_NOUN})"
_CHANGE = (
    r"(?:moved|pushed|postponed|brought|put|rescheduled|changed|shifted|increased|raised|reduced|cut|lowered|dropped|went|goes|going|gone|extended|delayed|slipped|slid)"
    r"(?: up| down| back| forward| out)?(?: again)?(?: from [\w .,€$£]{1,20}?)? (?:to|until|till)"
)
_IS = re2.compile(
    rf"{_OWNED}(?: for (?P<purpose>[\w' -]{{2,30}}?))?(?:'s| is| are| was| were| will be| has| have| got|)(?: (?:been|got|now|just|actually|only|currently|really|about|around|exactly|at|set))*"
    rf"(?: {_CHANGE})?(?: (?:now|about|around))? (?P<value>(?:on |the |at )*(?:[€$£]|\d|(?:(?i:{alternation(NAMES)}))\b).*)$"
)
_CANCELLED = re2.compile(
    rf"{_OWNED}(?P<who> with [\w'. -]{{2,40}}?)?(?:'s| is| was| has been| got) (?:been )?(?:cancelled|canceled|called off)\b.*$"
)
# "The venue is Villa Rosa": the one that the speaker's undertaking has, by its name.
_NAMED = re2.compile(
    r"^(?:(?i:the) |(?P<bare>))(?P<thing>(?:[a-z][a-z'-]+ ){0,2}?[a-z][a-z'-]{2,})(?:'s| is| will be)(?: now)?(?: called| named)? (?P<value>(?:the |at |in |on )?\p{Lu}[\p{L}'’&.-]+(?: (?:\p{Lu}[\p{L}'’&.-]*|of|de|la|in|and|&|the|with|on|\d+)){0,6})$"
)
_NO_NAMED_THING = frozenset(
    "my our your his her their its this that it he she they we you who what where when how there here everyone everything "
    "answer question point problem issue code function error bug output input result file line key value title word language response text "
    "reason idea truth name first second third last next same weather capital currency rest only other main best default following difference "
    "author president ceo winner population population formula acronym abbreviation translation plural opposite".split()
)
_NOW = re2.compile(r"(?i)(?:,| -)? (?:now|these days|from now on)$|, .*$")
_CLOCK = re2.compile(r"(?i)^\d{1,2}(?::\d{2})? ?(?:[ap]\.?m|o'clock)?\b[^a-z]*$")
_HAVE = re2.compile(
    r"^(?i:I|we)(?:'ve got|'ve| have got| have) an? (?P<thing>(?:[a-z][\w'-]* ){0,2}?(?:budget|limit|target)) of "
)
_MONEY_OR_DATE = re2.compile(r"(?i)\d|\b(?:" + alternation(NAMES) + r")\b")
_DAY = re2.compile(r"^\d{1,2}(?:st|nd|rd|th)$")
_ON = re2.compile(r"^(?:(?:on|at|to|the) )+")
_LATER = re2.compile(
    r"(?i)[,;(]? (?:not|instead of|rather than|instead|now|because|so|but|and|which|since|if|when|as)\b.*$"
)


@dataclass(frozen=True, slots=True)
class CurrentValue:
    """The value of an attribute that the speaker has one of, and the sentence that states it."""

    row: Pattern
    value: str
    content: str


def current_value_in(clause: str, *, name: str) -> CurrentValue | None:
    """Parse the current value of a date, amount or limit; None if the clause has no number and no day."""
    if _NOUNS.isdisjoint(clause.lower().replace("'s", "").split()):
        return _named_value(clause, name=name)
    if off := _CANCELLED.match(clause):
        whole = f"{off.group('thing')}{off.group('who') or ''}"
        return CurrentValue(_row(off.group("thing").lower()), "cancelled", f"{name}'s {whole} is cancelled.")
    found = _IS.match(_HAVE.sub(lambda have: f"my {have.group('thing')} is ", clause))
    if found is None:
        return None
    thing, purpose = found.group("thing"), found.group("purpose")
    said = _LATER.sub("", found.group("value"))
    row = _row(thing.lower())
    value = _ON.sub("", trim_object(said, pattern=row))
    if not value or not _MONEY_OR_DATE.search(value):
        return None
    is_event = found.group("noun").lower() in DATED_NOUNS and "deadline" not in thing.lower()
    preposition = ("at " if _CLOCK.match(value) else "on ") if is_event else ""
    day = f"the {value}" if is_event and _DAY.match(value) else value
    about = f" for {purpose}" if purpose else ""
    return CurrentValue(row=row, value=value, content=f"{name}'s {thing}{about} is {preposition}{day}.")


def _named_value(clause: str, *, name: str) -> CurrentValue | None:
    found = _NAMED.match(_NOW.sub("", clause.strip(" .!")))
    if found is None or not _NO_NAMED_THING.isdisjoint(found.group("thing").split()):
        return None
    thing, value = found.group("thing"), found.group("value")
    if value.startswith(("I'", "I ")):
        return None
    return CurrentValue(row=_row(thing), value=value, content=f"{name}'s {thing} is {value}.")


def _row(thing: str) -> Pattern:
    predicate = "_".join(thing.replace("'s", "").replace("'", "").replace("-", " ").split())
    return Pattern(
        name="current_value", type=MemoryType.FACT, predicate=predicate, expression=".*", importance=0.7, max_words=8
    )
