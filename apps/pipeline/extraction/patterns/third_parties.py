"""Statements about tests and tools: "Ida's scan came back clean", "uv handles locking for us"."""

from dataclasses import dataclass

import re2

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.extraction.patterns import third_person
from apps.pipeline.extraction.patterns.dated_events import tails_of
from apps.pipeline.extraction.patterns.pattern import Pattern
from apps.pipeline.lexicon.calendar import NAMES
from apps.pipeline.lexicon.kinship import KIN_WORDS
from apps.pipeline.lexicon.tables import alternation

_TESTED = re2.compile(
    rf"^(?P<subject>(?:(?:\p{{Lu}}[\p{{L}}'-]*'s|(?i:my|our)(?: (?:[a-z]+ )?(?:{alternation(KIN_WORDS)})'s)?) (?:[a-z]+ ){{0,3}}?(?:tests?|scans?|biopsy|results?|blood work|mri|x-ray|smear|swab|screening))(?: (?:at|from|for|in|on) [\w' -]{{2,30}}?)?)"
    r" (?P<said>(?:came back|was|were|is|are|turned out)(?: all| completely| to be)? (?:clean|negative|positive|clear|normal|fine|ok|okay|high|low|benign|malignant|inconclusive|good|bad))\b.*$"
)
_SERVES = re2.compile(
    r"^(?P<subject>[\p{L}][\w.+-]*(?: [\w.+-]+)?) (?P<said>(?:now )?(?:does|handles|manages|hosts|covers|provides|takes care of|looks after) [^.!?;]{3,60} for (?:us|me))\b.*$"
)
_STANDS = re2.compile(
    r"^(?P<subject>[a-z][a-z-]{2,}) (?P<said>(?:is|are)(?: still| now| already| currently)* on (?P<value>\d[\w.]*|\p{Lu}[\w.+-]*(?: \d[\w.]*)?))(?:,? (?:until|because|since|for now|now|as|but|and|so)\b.*)?$"
)
_JOINED = re2.compile(
    r"^(?P<subject>\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+)?) (?P<said>(?:joined|joins|has joined|is joining|started (?:in|with)|starts (?:in|with)) (?:us|(?:my|our|the) (?:team|company|firm|band|crew|project|startup))(?: as [^,.;!?]{3,40}?)?(?: (?:on|in|last|next|today|this) ?[^,.;!?]{0,20})?)$"
)
_LEFT = re2.compile(
    r"^(?P<subject>\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+)?) (?P<said>(?:left|has left|is leaving|leaves|quit|has quit|resigned|has resigned)(?: (?:us|(?:my|our|the) (?:team|company|firm|band|crew|project|startup|station)))?(?: (?:on|in|last|next|this|at the end of) [^,.;!?]{2,20})?)$"
)
_NO_SUBJECT = re2.compile(
    r"(?i)^(?:don't|never|let's|please|it|this|that|these|those|there|they|he|she|who|what|which|where|how|everything|everyone|someone|something|nothing|nobody|all|some|and|but|so|you|dinner|lunch|breakfast|party|match|game|concert|train|flight|bus|one|line)\b"
)
_DAY = re2.compile(rf"(?i)^(?:{alternation(NAMES)})\b|^\d{{1,2}}(?:st|nd|rd|th)\b")
_JOINT = re2.compile(r"^(?:and|but|so|while|though) ")
_TEST = Pattern(
    name="test_result", type=MemoryType.FACT, predicate="test_result", expression=".*", topic="health", importance=0.9
)
_SERVICE = Pattern(name="serves", type=MemoryType.FACT, predicate="serves", expression=".*", importance=0.5)
_STATE = Pattern(name="stands_on", type=MemoryType.FACT, predicate="stands_on", expression=".*", importance=0.5)


_MEMBER = Pattern(
    name="membership", type=MemoryType.FACT, predicate="membership", expression=".*", importance=0.5, is_single=True
)
_FORMS = ((_TESTED, _TEST), (_SERVES, _SERVICE), (_STANDS, _STATE), (_JOINED, _MEMBER), (_LEFT, _MEMBER))


@dataclass(frozen=True, slots=True)
class ThirdPartyStatement:
    """A statement about somebody or something else that matters to the speaker."""

    row: Pattern
    subject: str
    value: str
    content: str


def third_party_in(clause: str, *, name: str) -> ThirdPartyStatement | None:
    """Read a test's result, what serves the speaker, or which version a system is on; None for anything else."""
    for tail in tails_of(clause):
        said = _JOINT.sub("", tail)
        for expression, row in _FORMS:
            found = expression.match(said)
            if found is not None and (
                made := _statement(found.group("subject") or "", found.group("said") or "", row, name)
            ):
                return made
    return None


def _statement(subject: str, said: str, row: Pattern, name: str) -> ThirdPartyStatement | None:
    value = third_person.third_person(said.partition(" ")[2], name=name)
    if _NO_SUBJECT.match(subject) or (row is _STATE and _DAY.match(value.rpartition("on ")[2])):
        return None
    who = third_person.third_person(subject, name=name)
    who = who if row is _SERVICE else f"{who[:1].upper()}{who[1:]}"  # names of tools keep their small letters
    content = f"{who} {third_person.third_person(said, name=name)}."
    if third_person.speaks_in_first_person(content, name=name) or third_person.addresses_someone(content, name=name):
        return None
    return ThirdPartyStatement(row=row, subject=who, value=value, content=content)
