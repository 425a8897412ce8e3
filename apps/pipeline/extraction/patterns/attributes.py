"""Attributes of the speaker: "my name is Ana", "my favourite film is…", "our car broke down"."""

import re
from dataclasses import dataclass

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.extraction.patterns import third_person
from apps.pipeline.extraction.patterns.pattern import Pattern, trim_object
from apps.pipeline.lexicon.health_terms import BODY_PART
from apps.pipeline.lexicon.kinship import KIN_WORDS

_ATTRIBUTE = re.compile(
    r"^(?:[Mm]y|[Oo]ur) (?P<thing>[A-Za-z0-9][\w'’ -]{1,40}?)(?P<verb>'s(?! \w+ (?:is|are|was|were)\b)| is| are| was| were| has been) (?P<value>.+)$",
    re.DOTALL,
)
_KNOWN: dict[str, tuple[str, str, float]] = {
    "name": ("name", "identity", 0.95), "full name": ("name", "identity", 0.95), "first name": ("name", "identity", 0.95),
    "nickname": ("nickname", "identity", 0.7), "birthday": ("birthday", "identity", 0.8), "date of birth": ("birthday", "identity", 0.8),
    "pronouns": ("pronouns", "identity", 0.8), "job": ("works_as", "work", 0.7), "timezone": ("timezone", "identity", 0.7),
    "time zone": ("timezone", "identity", 0.7), "hometown": ("comes_from", "home", 0.7), "email": ("email", "identity", 0.8),
    "blood type": ("blood_type", "health", 0.9), "blood group": ("blood_type", "health", 0.9), "phone": ("phone", "possessions", 0.5), "car": ("car", "possessions", 0.5),
    "laptop": ("laptop", "possessions", 0.5), "native language": ("native_language", "skills", 0.7),
    "mother tongue": ("native_language", "skills", 0.7), "shoe size": ("shoe_size", "identity", 0.5),
}  # fmt: skip
_FAVOURITE = re.compile(
    r"^(?:(?:all[- ]time|current|absolute|own) )*(?:favou?rite|fave|fav|preferred|go-to|top) (?P<kind>[\w ]{2,40})$",
    re.IGNORECASE,
)
_ADVERBS = re.compile(r"(?i)^(?:(?:actually|really|now|just|still|also|currently|in fact),? )+")
# "my ears are happy and Kofi seems fine" makes two statements.
_NEXT_CLAUSE = re.compile(
    r",? (?:and|but|so) (?:the |an? |this |that |there )?[\w'-]+ (?:is|are|was|were|has|have|had|will|can|does|did|seems|looks|wants|needs|says)\b.*$"
)
_ON = re.compile(r"^(?:on|the) (?=\d|[A-Z])")
# Nouns of the conversation rather than of the speaker's life.
_CURRENT = re.compile(r"(?i)^(?:new|current|latest|present) (?=\w)")
# What a body does at the moment is no state of health.
_OF_THE_MOMENT = re.compile(
    r"(?i)^\w+ing\b|\b(?:today|tonight|yesterday|right now|at the moment|this (?:morning|afternoon|evening))\b|^(?:fine|ok|okay|good|great|alright)\b"
)
_EMPTY = frozenset(
    "point question guess bad advice thought thoughts day week fault pleasure problem issue hope plan only one heart mind turn concern goodness way "
    "homework assignment query code function regex loop tests build prompt answer".split()
)
_WORTHLESS_VALUE = re.compile(
    r"(?i)^(?:so |very |really |not |just |still |all |pretty |too )*(?:great|good|fine|ok|okay|bad|here|there|done|nice|awesome|amazing|going|open|ready|full|that|this|it|what|same|cool|sure|happy|tired|weird|broken|failing|slow|wrong|empty)\b[\w ]{0,12}$"
)


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of the speaker with its value, and the sentence that states it."""

    row: Pattern
    value: str
    content: str
    is_negated: bool
    names_someone: bool  # "my tutor is Claire Monnier"
    is_known: bool  # one of those that people have in common, such as a name or a birthday


def attribute_in(clause: str, *, name: str) -> Attribute | None:
    """Parse "my X is Y" about the speaker; None for other clauses."""
    match = _ATTRIBUTE.match(clause.replace("’", "'"))
    if match is None:
        return None
    thing = _CURRENT.sub("", " ".join(match["thing"].split()))
    words = thing.split()
    if (
        len(words) > 5
        or words[-1].lower() in _EMPTY
        or any(word.lower().removesuffix("'s") in KIN_WORDS for word in words)
    ):
        return None
    row, known = _row(thing, is_passing=_OF_THE_MOMENT.search(match["value"]) is not None)
    said = _NEXT_CLAUSE.sub("", match["value"])
    negated = said.startswith("not ")
    value = trim_object(third_person.third_person(said.removeprefix("not "), name=name), pattern=row)
    value = _ADVERBS.sub("", value)
    if known:
        value = _ON.sub("", value)
    if not known and re.fullmatch(r"\w+ing", value):
        return None  # "my knee has been hurting"
    if not value or _WORTHLESS_VALUE.match(value) or re.match(r"(?i)(?:it|that|this|them)$", value):
        return None
    verb = _verb(match["verb"].strip(), value)
    names_someone = value.removeprefix("called ")[:1].isupper()
    content = f"{name}'s {thing} {verb}{' not' if negated else ''} {_said(value, row)}."
    if third_person.speaks_in_first_person(content, name=name):
        return None
    return Attribute(
        row=row, value=value, content=content, is_negated=negated, is_known=known, names_someone=names_someone
    )


def _said(value: str, row: Pattern) -> str:
    return f"on {value}" if row.predicate == "birthday" and re.match(r"\d|[A-Z]", value) else value


def _verb(said: str, value: str) -> str:
    if said != "'s":
        return said
    return "has" if value.startswith(("been ", "got ", "become ")) else "is"


def _row(thing: str, *, is_passing: bool) -> tuple[Pattern, bool]:
    lower = thing.lower()
    if known := _KNOWN.get(lower):
        predicate, topic, importance = known
        return _pattern(predicate, topic=topic, importance=importance), True
    if favourite := _FAVOURITE.match(lower):
        kind = favourite["kind"].strip().replace(" ", "_")
        return _pattern(f"favourite_{kind}", topic="tastes", importance=0.6, type=MemoryType.PREFERENCE), True
    if _OF_THE_BODY.search(lower) and not is_passing:
        return _pattern(re.sub(r"[^a-z0-9]+", "_", lower), topic="health", importance=_HEALTH), False
    slug = re.sub(r"[^a-z0-9]+", "_", lower.replace("'s ", " ")).strip("_")
    is_single = not lower.endswith("s") or lower.endswith("ss")
    return _pattern(slug, topic="", importance=0.45, is_single=is_single), False


_HEALTH = 0.75
_OF_THE_BODY = re.compile(
    rf"(?i)^(?:(?:left|right|resting|fasting) )?(?:{BODY_PART}s?|blood (?:pressure|sugar)|pressure|cholesterol|thyroid|sugars?|iron|ferritin|heart(?: rate)?|kidneys?|liver|hearing|eyesight|vision|hba1c|a1c|bmi|asthma|eczema|diabetes)$"
)


def _pattern(
    predicate: str, *, topic: str, importance: float, type: MemoryType = MemoryType.FACT, is_single: bool = False
) -> Pattern:
    name = "favourite" if predicate.startswith("favourite_") else "attribute"
    return Pattern(
        name=name,
        type=type,
        predicate=predicate,
        expression=".*",
        topic=topic,
        importance=importance,
        max_words=18,
        is_single=is_single,
    )


NAME = _pattern("name", topic="identity", importance=0.95)
