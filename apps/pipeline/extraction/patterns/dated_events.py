"""Events with a date, whatever they are: "billing v2 goes live on 19 January", "Emil's birthday is on 12 June".

A calendar date shows that a statement lasts, so a grammatical clause of subject, verb and date is enough.
"""

import re
from dataclasses import dataclass
from unicodedata import combining, normalize

import re2

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.predicates import DATED_NOUNS
from apps.pipeline.extraction.patterns import third_person
from apps.pipeline.extraction.patterns.pattern import Pattern
from apps.pipeline.lexicon import verbs
from apps.pipeline.lexicon.calendar import MONTHS, NAMES
from apps.pipeline.lexicon.tables import alternation

_MONTH = rf"(?:{alternation({*MONTHS, *(word for word, name in NAMES.items() if name in MONTHS)})})"
_DAY = r"(?:\d{1,2}(?:st|nd|rd|th)?)"
DATE = rf"(?:(?:the )?{_DAY}(?: of)? {_MONTH}\b(?: \d{{4}})?|{_MONTH} (?:the )?{_DAY}\b(?:,? \d{{4}})?|{_MONTH} \d{{4}}\b|\d{{4}}-\d{{2}}-\d{{2}})"
_NAMES_A_DATE = re2.compile(
    rf"(?i)\b(?:{DATE}|in (?:early |mid |late |mid-|the middle of |the end of )?{_MONTH}\b|the \d{{1,2}}(?:st|nd|rd|th) of {_MONTH}\b)"
)

_HAPPENS = (
    r"(?:goes live|go live|starts?|begins?|ends?|opens?|closes?|launches|expires?|runs out|takes place|happens|moves in|moves out"
    r"|finishes|lands|departs|ships|retires|graduates|turns \d+|gets married|is|are|was|were|will be|has to be (?:\w+ )?|must be (?:\w+ )?)"
)
_BETWEEN = r"(?:(?:now|only|still|just|then|already|actually|officially|due|planned|scheduled|set|born|again|live|over|back|off|moved|postponed|rescheduled|pushed back|brought forward|cancelled until|on the way|instead)[, ]+)*"
_EVENT = re2.compile(
    rf"(?i)^(?P<subject>(?:(?:my|our|the|his|her|their) )?(?:[\p{{L}}\d'&-]+ ){{0,4}}?[\p{{L}}\d'&-]+) (?P<said>(?:now |only |still |just |already |officially )*(?P<verb>{_HAPPENS}) {_BETWEEN}(?:(?:on|from|in|at|by|until|till|to|since|for|around|between|before|after) )*(?:\w+day,? )?(?:(?:in|on) )?{DATE}(?:[^.!?;]*))$"
)
_NO_SUBJECT = re2.compile(
    r"(?i)\b(?:it|its|this|that|these|those|there|they|he|she|hers|his|i|we|you|your|yours|who|what|which|where|when|why|how|here|today|tomorrow|yesterday|if|because|and|but|or|so|not|no|nothing|nobody|everything|something|anything|version|line|row|error|log|step|page|chapter|example|one|deadline is|\d+)\b"
)
# "There's a blood test on 9 April": the speaker has it.
_THERE_IS = re.compile(
    r"^[Tt]here(?:'s| is| will be) an? (?P<thing>[a-z][a-z -]{2,40}) (?=(?:on|in|from) (?:\w+day,? )?(?:the )?[\dA-Z])"
)
_CUT = re2.compile(
    r"(?i)(?:,| -| –|;)? (?:and|but|so|because|which|that's|that is|if|when|although|though|where|as|what|who|until (?:he|she|they|it)|now (?:i|we|my|he|she)|(?:can|could|would|should) )\b.*$|,? (?:instead|now|haha|lol)$|, [a-z][^,\\d]*$"
)
_OF_SOMEBODY = re.compile(r"^[A-ZÀ-Þ][\w-]+(?:['’]s)? ")
_JOINT = re2.compile(r"[,:;] ")
_MOST_PARTS = 4
_OWNER = re2.compile(r"(?i)^(?:my|our|the) ")
_WORD = re2.compile(r"[^a-z0-9]+")
_BE = frozenset("is are was were will".split())
_ONCE = frozenset("goes go starts start begins begin ends end opens closes launches expires expire takes".split())
_SINGLE = frozenset(
    "goes go starts start begins begin ends end opens closes launches expires expire takes is are was will has must runs".split()
)


@dataclass(frozen=True, slots=True)
class DatedEvent:
    """A thing, what happens to it, and when.

    `is_owned` is True if it belongs to the speaker, `is_single` if it happens once, so that a later date replaces the
    former one.
    """

    row: Pattern
    subject: str
    is_owned: bool
    value: str
    content: str
    is_single: bool = False


def names_a_date(text: str) -> bool:
    """Return True if a text contains a day of a month, or a month of a year."""
    return _NAMES_A_DATE.search(text) is not None


def tails_of(clause: str) -> list[str]:
    """Return a clause, and what follows its first commas and colons: another statement may begin there."""
    said = clause.strip(" .!")
    starts = [0, *(joint.end() for joint in _JOINT.finditer(said))]
    return [said[start:] for start in starts[:_MOST_PARTS]]


def dated_event_in(clause: str, *, name: str) -> DatedEvent | None:
    """Read a clause of a subject, a verb and a calendar date; None for a subject that is a pronoun or a question."""
    if not any(char.isdigit() for char in clause):
        return None
    found = next(filter(None, map(_EVENT.match, tails_of(_THERE_IS.sub(r"my \g<thing> is ", clause)))), None)
    if found is None:
        return None
    subject, verb = found.group("subject"), found.group("verb").lower().split()[0]
    thing = _OWNER.sub("", subject)
    # "Ken's leaving, last day is April 24": somebody's own, whoever that is.
    is_bare = thing == subject and subject.islower() and verb in _BE
    is_somebodys = is_bare and _OF_SOMEBODY.match(clause) is not None
    if _NO_SUBJECT.search(thing) or is_somebodys:
        return None
    is_owned = thing != subject
    said = third_person.third_person(_CUT.sub("", found.group("said")), name=name)
    if not names_a_date(said):
        return None
    text = f"{name}'s {thing}" if is_owned else f"{subject[:1].upper()}{subject[1:]}"
    content = f"{text} {said}."
    if third_person.speaks_in_first_person(content, name=name) or third_person.addresses_someone(content, name=name):
        return None
    if not is_owned and verb in _BE and "'s " not in thing and thing.lower().split()[-1] in DATED_NOUNS:
        is_owned, text = True, f"{name}'s {thing[:1].lower()}{thing[1:]}"
        content = f"{text} {said}."
    is_single = verb in _ONCE and not is_owned
    return DatedEvent(_row(thing, verb), text, is_owned, said.partition(" ")[2], content, is_single)


def _slug_of(thing: str) -> str:
    plain = "".join(each for each in normalize("NFD", thing.lower()) if not combining(each))
    slug: str = _WORD.sub("_", plain.replace("'s ", " "))
    return slug.strip("_")


def _row(thing: str, verb: str) -> Pattern:
    """Name the predicate so that a later date of the same thing takes the place of the former one."""
    what = _slug_of(thing)
    if thing.lower().split()[-1] in DATED_NOUNS and verb in _BE:
        return Pattern(name="dated_event", type=MemoryType.FACT, predicate=what, expression=".*", importance=0.6)
    action = "" if verb in ("is", "are", "was", "will", "has", "must") else f"_{verbs.base_form(verb)}"
    predicate = f"{what}{action}_date" if verb in _SINGLE else f"{what}{action}"
    return Pattern(name="dated_event", type=MemoryType.FACT, predicate=predicate, expression=".*", importance=0.6)
