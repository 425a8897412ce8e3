"""What becomes of entities and their names when traces are taken back, or when that is undone."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from uuid import UUID

from apps.actions.rollbacks.history import EntityHistory, EntityRecord, MemoryHistory, UserHistory
from apps.pipeline.core.enums import EntityChangeKind
from apps.pipeline.core.operations import CountAlias, MarkEntityChanges, Operation, ReviseEntity


@dataclass(frozen=True, slots=True)
class EntityTakings:
    """What a rollback took back of entities, by identifier: from this its undo restores them."""

    withdrawn: tuple[UUID, ...] = ()  # entities
    mentions: Mapping[UUID, int] | None = None  # entity to how many were taken back
    records: tuple[UUID, ...] = ()
    given_back: tuple[UUID, ...] = ()  # records of descriptions that went back to the entity


def mentions_of(memories: Iterable[MemoryHistory], taken: Mapping[UUID, Collection[UUID]]) -> Counter[UUID]:
    """Count how many traces mention an entity by what is taken: memory to the turns that say it no more."""
    mentioned = {
        (entity, origin.trace_id)
        for each in memories
        for origin in each.origins
        if origin.turn_id in taken.get(each.memory.id, ())
        for entity in each.entity_ids
    }
    return Counter(entity for entity, _ in mentioned)


def take_back(
    history: UserHistory, *, traces: Set[UUID], retracted: Set[UUID], mentions: Mapping[UUID, int]
) -> EntityTakings:
    """Decide what is taken back: entities and names that only these traces brought.

    `retracted` are the memories that say nothing any more: an entity that another memory refers to stays.
    """
    own = [(entity, record) for entity in history.entities for record in entity.records if record.trace_id in traces]
    return EntityTakings(
        withdrawn=tuple(each.id for each in history.entities if _is_unused(each, history, traces, retracted)),
        mentions=dict(mentions),
        records=tuple(record.id for _, record in own),
        given_back=tuple(record.id for entity, record in own if _goes_back(entity, record, history, traces)),
    )


def take_back_operations(history: UserHistory, takings: EntityTakings) -> Iterator[Operation]:
    """Yield the operations that take back entities, mentions and names."""
    mentions = takings.mentions or {}
    for entity in history.entities:
        taken = [each for each in entity.records if each.id in takings.records]
        name = _name_without(entity, taken)
        withdrawn = True if entity.id in takings.withdrawn else None
        if name or withdrawn or mentions.get(entity.id):
            yield ReviseEntity(entity.id, mentions=-mentions.get(entity.id, 0), name=name, withdrawn=withdrawn)
        yield from _counts(entity, taken, takings, sign=-1)
    if takings.records:
        yield MarkEntityChanges(takings.records, withdrawn=True)


def restore_operations(entities: Iterable[EntityHistory], takings: EntityTakings) -> Iterator[Operation]:
    """Yield the operations that restore what was taken; the records of the entities are the withdrawn ones."""
    mentions = takings.mentions or {}
    for entity in entities:
        taken = [each for each in entity.records if each.id in takings.records]
        name = _name_with(entity, taken)
        withdrawn = False if entity.id in takings.withdrawn else None
        if name or withdrawn is False or mentions.get(entity.id):
            yield ReviseEntity(entity.id, mentions=mentions.get(entity.id, 0), name=name, withdrawn=withdrawn)
        yield from _counts(entity, taken, takings, sign=1)
    if takings.records:
        yield MarkEntityChanges(takings.records, withdrawn=False)


def _is_unused(entity: EntityHistory, history: UserHistory, traces: Set[UUID], retracted: Set[UUID]) -> bool:
    if entity.stays or entity.added_by not in traces:
        return False
    named_by_others = any(each.trace_id not in traces for each in entity.records)
    return not named_by_others and history.referring.get(entity.id, frozenset()) <= retracted


def _goes_back(entity: EntityHistory, record: EntityRecord, history: UserHistory, traces: Set[UUID]) -> bool:
    """Tell whether a description that these traces took goes back: unless another trace has given it away since."""
    if record.kind is not EntityChangeKind.TAKEN:
        return False
    holders = (each for each in history.entities if each.id in history.holders.get(record.folded, frozenset()))
    return not any(
        each.folded == record.folded and each.kind is EntityChangeKind.NAMED and each.trace_id not in traces
        for holder in holders
        if holder.id != entity.id
        for each in holder.records
    )


def _name_without(entity: EntityHistory, taken: Collection[EntityRecord]) -> str | None:
    """Return the name that an entity had before these renamings, or None where the latest one stays."""
    name = entity.name
    for record in reversed([each for each in entity.records if each.kind is EntityChangeKind.RENAMED]):
        if record not in taken or record.alias != name:
            break
        name = record.former
    return name if name != entity.name else None


def _name_with(entity: EntityHistory, taken: Collection[EntityRecord]) -> str | None:
    name = entity.name
    for record in taken:
        if record.kind is EntityChangeKind.RENAMED and record.former == name:
            name = record.alias
    return name if name != entity.name else None


def _counts(
    entity: EntityHistory, taken: Collection[EntityRecord], takings: EntityTakings, *, sign: int
) -> Iterator[CountAlias]:
    named: Counter[tuple[str, str]] = Counter()
    for record in taken:
        if record.kind is EntityChangeKind.NAMED:
            named[record.folded, record.alias] += 1
        elif record.id in takings.given_back:
            named[record.folded, record.alias] -= record.uses
    for (_, alias), uses in named.items():
        if uses:
            yield CountAlias(entity.id, alias=alias, uses=sign * uses)
