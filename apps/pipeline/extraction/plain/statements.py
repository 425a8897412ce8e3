"""Statements: what a match of the table says about the speaker or somebody of theirs."""

import re
from collections.abc import Iterator

from apps.pipeline.core.enums import EntityType, MemoryType
from apps.pipeline.core.predicates import is_stateful
from apps.pipeline.core.statement import Candidate, Mention, ObjectValue
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.plain.table import Match

_ENTITIES = {"person": EntityType.PERSON, "place": EntityType.PLACE, "organisation": EntityType.ORGANISATION}
_ITEM_ENDS = re.compile(r",? (?:and|or) |, ")
_NO_WORD = re.compile(r"[^a-zà-ÿ]+")
_TO_SPEAKER = re.compile(r"(?i)\b(me|my|your)\b")
_POINTS = re.compile(r"(?i)\b(?:i|you|it|this|that|them|these|those|here|him|her|today|tonight|now)\b")


def statements_of(match: Match, *, turn: SourceTurn, speaker: Mention, evidence: str) -> Iterator[Candidate]:
    """Yield the statements of a match; a list that the row splits makes one for each of its items."""
    row, told = match.row, match.groups.get("object", "")
    for value in _ITEM_ENDS.split(told) if row.splits else (told,):
        if row.object == "wish" and not (value := _wish(value, speaker=speaker)):
            continue
        subject, shown = _subject(match, speaker=speaker)
        value_of_row = _value(match, value, speaker=speaker)
        predicate = row.predicate.format(relative=_NO_WORD.sub("_", match.groups.get("relative", "").lower()))
        yield Candidate(
            index=0,
            type=row.type,
            subject=subject,
            predicate=predicate,
            object=value_of_row,
            content=_content(match, shown=shown, value=value_of_row.text, predicate=predicate),
            polarity=row.polarity,
            stateful=is_stateful(predicate),
            importance=row.importance,
            topic=row.topic,
            tags=row.tags,
            source_turn_ids=(turn.id,),
            evidence=evidence,
            reliability=row.confidence,
            extractor=f"plain:{row.id}",
        )


def _wish(value: str, *, speaker: Mention) -> str:
    """Return the words of a wish to the assistant in the third person; "" if they point at something at hand."""
    if _POINTS.search(value):
        return ""
    others = {"me": speaker.text, "my": f"{speaker.text}'s", "your": "the assistant's"}
    return _TO_SPEAKER.sub(lambda word: others[word[1].lower()], value[:1].lower() + value[1:])


def _subject(match: Match, *, speaker: Mention) -> tuple[Mention, str]:
    """Return the subject, and how the sentence calls it."""
    name = match.groups.get("name", "")
    relative = f"{speaker.text}'s {match.groups.get('relative', '').lower()}"
    if match.row.subject == "named":
        return Mention(text=name, type=EntityType.ANIMAL if match.row.id == "pet_name" else EntityType.PERSON), name
    if match.row.subject == "relative":
        mention = Mention(text=name or relative, type=EntityType.PERSON)
        return mention, f"{name}, {relative}," if name else relative
    return speaker, speaker.text


def _value(match: Match, value: str, *, speaker: Mention) -> ObjectValue:
    if match.row.subject == "named":
        return ObjectValue(entity=speaker)
    if kind := _ENTITIES.get(match.row.object):
        return ObjectValue(entity=Mention(text=value, type=kind))
    return ObjectValue(literal=value)


def _content(match: Match, *, shown: str, value: str, predicate: str) -> str:
    if match.row.type is MemoryType.RELATION and match.row.subject == "named":
        shown, value = value, shown
    verb = match.groups.get("verb", "").lower()
    return match.row.says.format(
        subject=shown,
        object=value,
        a_object=f"{'an' if value[:1].lower() in 'aeiou' else 'a'} {value}",
        relative=match.groups.get("relative", "").lower(),
        verb=verb,
        s_verb=f"{verb}s",
    )
