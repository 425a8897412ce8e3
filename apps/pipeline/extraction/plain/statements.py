"""Statements: what a match of the table says about the speaker or somebody of theirs."""

import re
from collections.abc import Iterator

from apps.pipeline.core.enums import EntityType
from apps.pipeline.core.predicates import is_stateful
from apps.pipeline.core.statement import PLAIN, Candidate, Mention, ObjectValue
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.plain.table import RowMatch

_ENTITIES = {"person": EntityType.PERSON, "place": EntityType.PLACE, "organisation": EntityType.ORGANISATION}
_NAMED = {"named person": EntityType.PERSON, "named animal": EntityType.ANIMAL}
_BETWEEN_ITEMS = re.compile(r",? (?:and|or) |, ")
_NO_LETTER = re.compile(r"[^a-zà-ÿ]+")
_ME, _MY, _YOUR = (re.compile(rf"(?i)\b{each}\b") for each in ("me", "my", "your"))
_POINTS = re.compile(r"(?i)\b(?:i|you|it|this|that|them|these|those|here|him|her|today|tonight|now)\b")


def statements_of(match: RowMatch, *, turn: SourceTurn, speaker: Mention, evidence: str) -> Iterator[Candidate]:
    """Yield the statements of a match; a list that the row splits makes one for each of its items."""
    row, told, relative = match.row, match.group("object"), match.group("relative").lower()
    if row.object == "wish":
        if _POINTS.search(told):
            return
        told = _third_person(told, name=speaker.text)
    predicate = row.predicate.format(relative=_NO_LETTER.sub("_", relative))
    subject, shown = _subject(match, speaker=speaker)
    for item in _BETWEEN_ITEMS.split(told) if row.splits else (told,):
        value = _value(match, item, speaker=speaker)
        yield Candidate(
            index=0,
            type=row.type,
            subject=subject,
            predicate=predicate,
            object=value,
            content=row.says.format(
                subject=shown,
                object=value.text,
                a_object=f"{'an' if value.text[:1].lower() in 'aeiou' else 'a'} {value.text}",
                relative=relative,
                verb=match.group("verb").lower(),
            ),
            polarity=row.polarity,
            stateful=is_stateful(predicate),
            importance=row.importance,
            topic=row.topic,
            tags=row.tags,
            source_turn_ids=(turn.id,),
            evidence=evidence,
            reliability=row.confidence,
            extractor=f"{PLAIN}{row.id}",
        )


def _third_person(wish: str, *, name: str) -> str:
    """Return a wish to the assistant as others would tell it."""
    told = _YOUR.sub("the assistant's", _MY.sub(lambda _: f"{name}'s", _ME.sub(lambda _: name, wish)))
    return told[:1].lower() + told[1:]


def _subject(match: RowMatch, *, speaker: Mention) -> tuple[Mention, str]:
    """Return the subject, and how the sentence calls it."""
    name, relative = match.group("name"), f"{speaker.text}'s {match.group('relative').lower()}"
    if kind := _NAMED.get(match.row.subject):
        return Mention(text=name, type=kind), name
    if match.row.subject == "relative":
        return Mention(text=name or relative, type=EntityType.PERSON), f"{name}, {relative}," if name else relative
    return speaker, speaker.text


def _value(match: RowMatch, told: str, *, speaker: Mention) -> ObjectValue:
    if match.row.subject in _NAMED:
        return ObjectValue(entity=speaker)
    kind = _ENTITIES.get(match.row.object)
    return ObjectValue(literal=told) if kind is None else ObjectValue(entity=Mention(text=told, type=kind))
