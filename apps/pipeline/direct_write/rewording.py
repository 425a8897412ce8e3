"""The triple of an edited sentence, so that sentence and value never disagree."""

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.statement import Mention, ObjectValue, Statement


def reworded(statement: Statement, *, content: str) -> Statement:
    """Return a statement with another sentence and the triple of that sentence.

    If only the words of the old object were replaced, the new words are the object. Otherwise the object is empty,
    because a stale value would be worse than none. An object that is an entity is returned as a mention to be resolved.
    """
    if canonical_text(content) == canonical_text(statement.content):
        return statement.evolve(content=content)
    if words := _replacement(statement, content):
        return statement.evolve(content=content, object=_like(statement, words))
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
