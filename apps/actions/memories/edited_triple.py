"""Change a sentence and its triple together."""

from collections.abc import Mapping
from typing import Any

from apps.actions.errors import Unfit
from apps.memories.codec import read_statement, write_columns
from apps.memories.models import Memory
from apps.memories.reading.postgres_reader import PostgresMemoryReader
from apps.pipeline.core.canonical import canonical_hash
from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import EntityType
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.operations import AddEntity
from apps.pipeline.core.statement import Mention, ObjectValue, Statement
from apps.pipeline.direct_write.new_memory import MAX_ENTITIES, resolved_object
from apps.pipeline.direct_write.rewording import disagrees, reworded
from apps.pipeline.resolution.entity_index import USER, EntityIndex


def with_triple(memory: Memory, changes: Mapping[str, Any]) -> tuple[dict[str, Any], list[AddEntity]]:
    """Return the changes of a sentence with those of its triple, and the entities that the triple adds.

    `object` is the object as a caller gives it, `value` its text as a person does; without either the triple follows
    the sentence. Raises Unfit where the sentence does not contain the value that is given for it.
    """
    plain = {name: value for name, value in changes.items() if name not in ("content", "object", "value")}
    statement = read_statement(memory)
    content = changes.get("content", memory.content)
    given = _given(memory, changes)
    if given is None and content == memory.content:
        return plain, []
    if given is not None and given.text and not memory.predicate:
        raise Unfit("a value needs a predicate, which the memory does not have", at="/object")
    if given is not None and given.text and disagrees(statement, content=content, value=given):
        raise Unfit(f"the sentence does not contain the value “{given.text}”", at="/object")
    index = EntityIndex(
        entities=PostgresMemoryReader().entities(end_user_id=memory.end_user_id, limit=MAX_ENTITIES), new_id=new_id
    )
    edited = _edited(_typed(statement, index), content=content, given=given, index=index)
    if edited.object.entity is not None and edited.object.entity.entity_id is None:
        edited = edited.evolve(object=resolved_object(edited.object, index))
    return plain | _changed(memory, edited), [AddEntity(entity=each) for each in index.new_entities]


def _given(memory: Memory, changes: Mapping[str, Any]) -> ObjectValue | None:
    """Return the object that the changes give; a value that stays as it was gives none."""
    if "object" in changes:
        return changes["object"] or ObjectValue()
    value = " ".join(str(changes.get("value", memory.object_text)).split())
    if value == memory.object_text:
        return None
    if "entity" in memory.object and value:
        return ObjectValue(entity=Mention(text=value))
    return ObjectValue(literal=value or None)


def _typed(statement: Statement, index: EntityIndex) -> Statement:
    """Return a statement whose object says of which type it is."""
    mention = statement.object.entity
    known = index.find(mention.entity_id) if mention else None
    if mention is None or known is None:
        return statement
    return statement.evolve(object=ObjectValue(entity=Mention(mention.text, known.type, entity_id=known.id)))


def _edited(statement: Statement, *, content: str, given: ObjectValue | None, index: EntityIndex) -> Statement:
    if given is None:
        return reworded(statement, content=content, subject_names=_names(index.find(statement.subject_id)))
    mention, former = given.entity, statement.object.entity
    if mention is not None and mention.type in (None, EntityType.OTHER) and former is not None:
        given = ObjectValue(entity=Mention(mention.text, former.type))
    return statement.evolve(content=content, object=given)


def _names(subject: KnownEntity | None) -> tuple[str, ...]:
    if subject is None:
        return ()
    return (subject.name, *subject.aliases, *((USER,) if subject.is_user else ()))


def _changed(memory: Memory, edited: Statement) -> dict[str, Any]:
    """Return the columns in which an edited statement differs from a memory, with its hash."""
    names = ("type", "predicate", "object", "content", "polarity", "stateful")
    columns = write_columns({name: getattr(edited, name) for name in names})
    changed = {name: value for name, value in columns.items() if getattr(memory, name) != value}
    return changed | {"canonical_hash": canonical_hash(edited)} if changed else {}
