"""Change the sentence of a memory and its triple together."""

from collections.abc import Mapping
from typing import Any

from apps.actions.errors import Unfit
from apps.memories.codec import read_statement, write_columns
from apps.memories.models import Memory
from apps.memories.reading.postgres_reader import PostgresMemoryReader
from apps.pipeline.core.canonical import canonical_hash, canonical_text
from apps.pipeline.core.enums import EntityType
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.operations import AddEntity
from apps.pipeline.core.statement import Mention, ObjectValue, Statement
from apps.pipeline.direct_write.new_memory import MAX_ENTITIES, resolved_object
from apps.pipeline.resolution.entity_index import EntityIndex


def with_triple(memory: Memory, changes: Mapping[str, Any]) -> tuple[dict[str, Any], list[AddEntity]]:
    """Add the changes of the triple to those of a sentence; also return the entities that the triple adds.

    `object` is an ObjectValue given by a caller, `value` a text entered by a person; without either, the triple is
    derived from the sentence. Raises Unfit if the sentence does not contain the given value.
    """
    others = {name: value for name, value in changes.items() if name not in ("content", "object", "value")}
    statement = read_statement(memory)
    content = changes.get("content", memory.content)
    given = _given(memory, changes)
    if given is None and content == memory.content:
        return others, []
    if given is not None and given.text and not memory.predicate:
        raise Unfit("a value needs a predicate, which the memory does not have", at="/object")
    if given is not None and given.text and disagrees(statement, content=content, value=given):
        raise Unfit(f"the sentence does not contain the value “{given.text}”", at="/object")
    index = EntityIndex(
        entities=PostgresMemoryReader().entities(end_user_id=memory.end_user_id, limit=MAX_ENTITIES), new_id=new_id
    )
    edited = _edited(_with_entity_type(statement, index), content=content, given=given, index=index)
    if edited.object.entity is not None and edited.object.entity.entity_id is None:
        edited = edited.evolve(object=resolved_object(edited.object, index))
    names = ("type", "predicate", "object", "content", "polarity", "stateful")
    columns = write_columns({name: getattr(edited, name) for name in names})
    changed = {name: value for name, value in columns.items() if getattr(memory, name) != value}
    if changed:
        changed["canonical_hash"] = canonical_hash(edited)
    return others | changed, [AddEntity(entity=each) for each in index.new_entities]


def _given(memory: Memory, changes: Mapping[str, Any]) -> ObjectValue | None:
    """Return the object that the changes set; None if the value stays the same."""
    if "object" in changes:
        return changes["object"] or ObjectValue()
    value = " ".join(str(changes.get("value", memory.object_text)).split())
    if value == memory.object_text:
        return None
    if "entity" in memory.object and value:
        return ObjectValue(entity=Mention(text=value))
    return ObjectValue(literal=value or None)


def _with_entity_type(statement: Statement, index: EntityIndex) -> Statement:
    """Return the statement with the type of the entity that is its object."""
    mention = statement.object.entity
    known = index.find(mention.entity_id) if mention else None
    if mention is None or known is None:
        return statement
    return statement.evolve(object=ObjectValue(entity=Mention(mention.text, known.type, entity_id=known.id)))


def _edited(statement: Statement, *, content: str, given: ObjectValue | None, index: EntityIndex) -> Statement:
    if given is None:
        return reworded(statement, content=content)
    mention, former = given.entity, statement.object.entity
    if mention is not None and mention.type in (None, EntityType.OTHER) and former is not None:
        given = ObjectValue(entity=Mention(mention.text, former.type))
    return statement.evolve(content=content, object=given)


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
