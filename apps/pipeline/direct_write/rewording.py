"""The triple of an edited sentence, so that sentence and value never disagree."""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from uuid import UUID

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import Role
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.statement import Candidate, Mention, ObjectValue, Statement
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.patterns import extract
from apps.pipeline.resolution.name_folding import fold_name

_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_NOWHERE = UUID(int=0)


def reworded(statement: Statement, *, content: str, subject_names: Collection[str]) -> Statement:
    """Return a statement with another sentence and the triple of that sentence.

    If only the words of the old object were replaced, the new words are the object. Otherwise the patterns must find
    exactly one triple about the same subject; if they don't, the object is empty, because a stale value would be worse
    than none. An object that is an entity is returned as a mention to be resolved.
    """
    if canonical_text(content) == canonical_text(statement.content):
        return statement.evolve(content=content)
    found = tuple(_triples(content, subject_names))
    if words := _replacement(statement, content):
        values = [each.object for each in found if _is_part(each, statement, words)]
        return statement.evolve(content=content, object=values[0] if len(values) == 1 else _like(statement, words))
    if len(found) == 1:
        return statement.evolve(
            content=content,
            type=found[0].type,
            predicate=found[0].predicate,
            object=found[0].object,
            polarity=found[0].polarity,
            stateful=found[0].stateful,
        )
    return statement.evolve(content=content, object=ObjectValue())


def disagrees(statement: Statement, *, content: str, value: ObjectValue) -> bool:
    """Return True if a sentence does not contain the value that is given for it.

    A value that the old sentence did not contain either is written in another form and can't be compared.
    """
    was_contained = _contains(statement.content, statement.object_text)
    return was_contained and not all(_contains(content, each) for each in value.items or (value.text,))


def _contains(sentence: str, words: str) -> bool:
    return f" {canonical_text(words)} ".replace("  ", " ") in f" {canonical_text(sentence)} "


def _replacement(statement: Statement, content: str) -> str:
    """Return the words in the place of the old object if all others are equal; otherwise ""."""
    former, old = statement.content, statement.object_text
    start = former.find(old) if old else -1
    while start >= 0:
        before, after = former[:start], former[start + len(old) :]
        words = content[len(before) : len(content) - len(after.rstrip(" .!"))].strip(" .!")
        is_same_otherwise = content.startswith(before) and content.rstrip(" .!").endswith(after.rstrip(" .!"))
        if is_same_otherwise and canonical_text(words) and not _contains(words, old):
            return words
        start = former.find(old, start + 1)
    return ""


def _like(statement: Statement, words: str) -> ObjectValue:
    """Return an object of the same kind as the object of a statement."""
    entity = statement.object.entity
    return ObjectValue(entity=Mention(text=words, type=entity.type)) if entity else ObjectValue(literal=words)


def _is_part(found: Candidate, statement: Statement, words: str) -> bool:
    """Return True if the patterns find the same predicate with a value that is part of the new words."""
    is_same = found.predicate == statement.predicate and found.polarity is statement.polarity
    return is_same and _contains(words, found.object_text)


def _triples(content: str, subject_names: Collection[str]) -> Iterator[Candidate]:
    """Yield what the patterns find about the subject; the sentence has no speaker and no time."""
    names = {fold_name(name) for name in subject_names}
    turn = SourceTurn(id=_NOWHERE, position=0, role=Role.USER, content=content, received_at=_LONG_AGO)
    for found in extract(turn=turn, policy=ExtractionPolicy()):
        if not found.subject.is_speaker and fold_name(found.subject.text) in names and found.object_text:
            yield found
