"""Conversion of a match to a candidate: trim the object, write the sentence, list the mentions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from apps.pipeline.core.enums import EntityType, Polarity, SourceConfidence, SpeechAct
from apps.pipeline.core.predicates import is_stateful
from apps.pipeline.core.statement import Candidate, Mention, ObjectValue
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.patterns import relatives, third_person
from apps.pipeline.extraction.patterns.antecedents import Antecedent
from apps.pipeline.extraction.patterns.clause import ParsedClause
from apps.pipeline.extraction.patterns.naming import apposition_in
from apps.pipeline.extraction.patterns.pattern import Pattern, PatternMatch, trim_clause, trim_object, without_article
from apps.pipeline.lexicon.kinship import KIN_WORDS

_NAMED_BESIDE = frozenset(
    {"has_pet", "has_children", "has_relatives", "owns", "bought"}
)  # rows of somebody or something new
_EMPLOYED_AT = re.compile(r"\b(?:at|for) (?P<employer>(?:the )?[A-ZÀ-Þ0-9].*)$")
_PRONOUNS = re.compile(r"(?i)\b(?:he|she|him|her|his|hers|they|them|their)\b")
# Objects that only refer to earlier words have no content of their own.
_POINTS_ELSEWHERE = re.compile(
    r"(?i)^(?:it|this|that|them|these|those|one|so|him|her|there|here|what|how|when|everything|nothing|anything|all|things?|stuff|something|to)"
    r"(?:\s+(?:so|all|too|here|there|was|is|and|to|of|about|when|how|for|one|stuff|part|much|out|up|more|kind)\b.*)?$"
    r"|^(?:an?|the|another|some) (?:[\w-]+ )?ones?$"
)
# Objects that refer to something just shown: "this bug", "the second option", "option B".
_PICKS = re.compile(
    r"(?i)^(?:(?:this|that|these|those) (?!(?:week|weekend|month|year|morning|afternoon|evening|summer|winter|spring|autumn|fall|time|season)\b)"
    r"|(?:the )?(?:first|second|third|fourth|last|former|latter|next|previous|other|top|bottom|left|right)"
    r" (?:one|ones|two|option|version|approach|draft|choice|suggestion|answer|variant|idea|design)\b|(?:option|version|variant|number) (?:[a-z]|\d+)\b)"
)


_WE_ARE = re.compile(r"\b[Ww]e(?:['’]re| are) (?:all |both )?[A-ZÀ-Þ]")


@dataclass(frozen=True, slots=True)
class SentenceContext:
    """The context of a sentence: turn, speaker and speech act."""

    turn: SourceTurn
    speaker: Mention
    evidence: str
    speech_act: SpeechAct
    reliability: float
    antecedent: Antecedent = field(default_factory=Antecedent)  # whom "she" means at the beginning
    is_translated: bool = False  # from another language: only what a typed pattern knows is kept


def typed(statement: ParsedClause, row: Pattern, match: PatternMatch, *, said: SentenceContext) -> Candidate | None:
    """Build the candidate of a typed row; None if it has no usable object."""
    found = match.group("object") or ""
    text = trim_object(found, pattern=row)
    if not text or _POINTS_ELSEWHERE.match(text) or _PICKS.match(text) or row.refuses(text):
        return None
    if text == statement.verb and text != found.strip(" .!"):
        return None  # its object was cut off
    if row.entity is EntityType.PLACE and text.islower():
        text = text.title()
    is_nobody = row.predicate == "nickname" and statement.subject.text in ("She", "He")  # who that is was not told
    is_plural = row.predicate == "name" and _WE_ARE.search(said.evidence) is not None  # "we are Jains"
    if is_nobody or is_plural or text in (said.speaker.text, statement.subject.text):
        return None  # "Sofia joined us as head of sales"
    value = ObjectValue(entity=Mention(text=text, type=row.entity))
    if row.entity is None:
        known = row.values.get(text.lower(), text)
        value = ObjectValue(literal=compared(known, owner=said.speaker.text))
    phrase = _phrase(statement.phrase, row, match, text)
    if row.name in _NAMED_BESIDE and (named := apposition_in(found)):
        phrase = f"{phrase}, {named}"
    return spoken(statement, row, value, phrase, said=said)


def compared(text: str, *, owner: str) -> str:
    """Return an object without its article or owner, for comparisons."""
    return without_article(text).removeprefix(f"{owner}'s ")


def _phrase(phrase: str, row: Pattern, match: PatternMatch, text: str) -> str:
    found = match.group("object") or ""
    if not row.content:
        start = phrase.find(text, phrase.rfind(found))
        if row.keeps:
            return phrase[:start] + text
        return phrase[:start] + trim_clause(phrase[start:])
    if "{verb}" in row.content:
        return row.content.format(object=text, verb=match.group("verb"))
    if "{article}" not in row.content:
        return row.content.format(object=text)
    bare = without_article(text)
    article = "an" if bare[:1].lower() in "aeiou" else "a"
    is_the_one = phrase[: phrase.rfind(found)].endswith(" the ")
    return row.content.format(article="the" if is_the_one else article, object=bare)


def employer_too(statement: ParsedClause, job: Candidate, row: Pattern) -> Iterator[Candidate]:
    """Return the second fact in "I'm a nurse at Charité"."""
    found = _EMPLOYED_AT.search(statement.phrase) if job.predicate == "works_as" else None
    name = trim_object(found["employer"], pattern=row) if found else ""
    if name and not name.startswith((statement.subject.text, "User")):  # "a therapist for my shoulder"
        yield job.evolve(
            predicate=row.predicate,
            object=ObjectValue(entity=Mention(text=name, type=EntityType.ORGANISATION)),
            content=statement.sentence(f"works at {name}"),
            extractor=f"patterns:{row.name}",
        )


def spoken(
    statement: ParsedClause, row: Pattern, value: ObjectValue, phrase: str, *, said: SentenceContext
) -> Candidate | None:
    """Write a statement with `phrase`; None if it still addresses someone or has a first person."""
    content = statement.sentence(phrase)
    if third_person.speaks_in_first_person(content, name=said.speaker.text) or third_person.addresses_someone(
        content, name=said.speaker.text
    ):
        return None
    return build_candidate(
        said,
        subject=statement.subject,
        row=row,
        value=value,
        content=_plainly(statement, content, said.speaker.text),
        is_negated=statement.is_negated,
        is_hedged=statement.is_hedged,
        mentions=_mentions(statement, content, said.speaker.text),
    )


def _plainly(statement: ParsedClause, content: str, name: str) -> str:
    return third_person.without_echo(content, name=name, people=KIN_WORDS) if statement.about_speaker else content


def build_candidate(
    said: SentenceContext,
    *,
    subject: Mention,
    row: Pattern,
    value: ObjectValue,
    content: str,
    is_negated: bool = False,
    is_hedged: bool = False,
    mentions: tuple[Mention, ...] = (),
) -> Candidate:
    """Build a candidate; its index is assigned later, when all candidates of a trace are known."""
    negative = (row.polarity is Polarity.NEGATIVE) != is_negated
    return Candidate(
        index=0,
        type=row.type,
        subject=subject,
        predicate=row.predicate,
        object=value,
        content=content,
        source_turn_ids=(said.turn.id,),
        evidence=said.evidence,
        extractor=f"patterns:{row.name}",
        reliability=said.reliability,
        source_confidence=SourceConfidence.SPECULATED if is_hedged else row.source,
        speech_act=said.speech_act,
        polarity=Polarity.NEGATIVE if negative else Polarity.POSITIVE,
        stateful=row.is_single or is_stateful(row.predicate),
        importance=row.importance,
        topic=row.topic,
        tags=row.tags,
        adjustment=row.adjustment,
        mentions=mentions,
    )


def _mentions(statement: ParsedClause, content: str, name: str) -> tuple[Mention, ...]:
    """Return the speaker's people in a sentence, and pronouns that refer to something outside of it."""
    owned = tuple(
        Mention(text=text) for text in relatives.described_in(content, owner=name) if text != statement.subject.text
    )
    if not statement.about_speaker:
        return owned
    pronouns = dict.fromkeys(found.group() for found in _PRONOUNS.finditer(content))
    return (*owned, *(Mention(text=text, type=EntityType.PERSON) for text in pronouns))
