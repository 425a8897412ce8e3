"""The changes of an end user's entities: from the plans of traces, and from the tables what no plan explains.

The tables keep only the names of today, so that plans tell which trace named an entity and how it was called before.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from functools import partial
from uuid import UUID

import msgspec

from apps.memories.models import Entity, EntityAlias, LedgerEntry, Memory
from apps.memories.reading.apply_plan import with_operation
from apps.memories.reading.memory_state import MemoryState
from apps.memories.reading.past_changes import PastChange, PastMemories, Rank
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import EntityType, TraceStatus
from apps.pipeline.core.operations import AddAlias, AddEntity, ReassignAlias, RenameEntity
from apps.traces.models import Trace

EntityOperation = AddEntity | AddAlias | ReassignAlias | RenameEntity
_KINDS: dict[str, type[EntityOperation]] = {
    each.__name__: each for each in (AddEntity, AddAlias, ReassignAlias, RenameEntity)
}
MERGED, SPLIT = "entity_merged", "entity_split"  # verbs of the ledger


def past_entities(*, end_user_id: UUID, memories: PastMemories) -> Iterator[PastChange]:
    """Yield the changes of an end user's entities, in no order."""
    planned = list(_planned(end_user_id))
    yield from (_of_plan(*each) for each in planned)
    operations = [operation for _, _, operation in planned]
    yield from _of_no_plan(end_user_id, operations)
    yield from _mentions(memories, planned)
    yield from _stored_mentions(end_user_id)
    yield from _merges(end_user_id)


def _planned(end_user_id: UUID) -> Iterator[tuple[UUID, datetime, EntityOperation]]:
    traces = Trace.objects.filter(end_user_id=end_user_id, finished_at__isnull=False)
    rows = traces.exclude(status=TraceStatus.ROLLED_BACK).order_by("finished_at")
    for trace_id, finished_at, plan in rows.values_list("id", "finished_at", "plan"):
        for values in plan or ():
            if finished_at and values["op"] in _KINDS:
                yield trace_id, finished_at, msgspec.convert(values, type=_KINDS[values["op"]])


def _of_plan(trace_id: UUID, at: datetime, operation: EntityOperation) -> PastChange:
    return PastChange(at=at, rank=Rank.ENTITY, apply=partial(_operate, operation, at), trace_id=trace_id)


def _operate(operation: EntityOperation, at: datetime, state: MemoryState) -> MemoryState:
    known = isinstance(operation, AddEntity) or operation.entity_id in state.entities
    return with_operation(state, operation, now=at) if known else state


def _of_no_plan(end_user_id: UUID, planned: Iterable[EntityOperation]) -> Iterator[PastChange]:
    """Yield entities and names that callers and people have added."""
    operations = list(planned)
    added = {each.entity.id for each in operations if isinstance(each, AddEntity)}
    rows = Entity.objects.filter(end_user_id=end_user_id, withdrawn=False)
    for row in (row for row in rows if row.id not in added):
        entity = KnownEntity(id=row.id, name=row.name, type=EntityType(row.type), is_user=row.is_user)
        yield _of_row(row.created_at, AddEntity(entity))
    named = set(_names(operations))
    for alias in EntityAlias.objects.filter(end_user_id=end_user_id, withdrawn=False).order_by("created_at", "folded"):
        if (alias.entity_id, alias.folded) not in named:
            yield _of_row(alias.created_at, AddAlias(alias.entity_id, alias.alias))


def _of_row(at: datetime, operation: AddEntity | AddAlias) -> PastChange:
    return PastChange(at=at, rank=Rank.ENTITY, apply=partial(_operate, operation, at))


def _names(operations: Iterable[EntityOperation]) -> Iterator[tuple[UUID, str]]:
    """Yield the names that plans have given, the former ones of renamed entities too."""
    called: dict[UUID, str] = {}
    for operation in operations:
        if isinstance(operation, AddEntity):
            called[operation.entity.id] = operation.entity.name
            yield from ((operation.entity.id, canonical_text(alias)[:255]) for alias in operation.entity.aliases)
        elif isinstance(operation, RenameEntity):
            yield operation.entity_id, canonical_text(called.get(operation.entity_id, ""))[:255]
            called[operation.entity_id] = operation.name
        else:
            yield operation.entity_id, canonical_text(operation.alias)[:255]


def _mentions(
    memories: PastMemories, planned: Iterable[tuple[UUID, datetime, EntityOperation]]
) -> Iterator[PastChange]:
    """Yield when each trace has mentioned entities: new ones, subjects and objects, at its latest turn."""
    added: dict[UUID, set[UUID]] = {}
    for trace_id, _, operation in planned:
        if isinstance(operation, AddEntity):
            added.setdefault(trace_id, set()).add(operation.entity.id)
    for trace_id in {*added, *memories.mentioned} & memories.ends.keys():
        at = memories.ends[trace_id]
        mentioned = memories.mentioned.get(trace_id, frozenset())
        mention = partial(_mention, mentioned, added.get(trace_id, set()), memories.said.get(trace_id, at))
        yield PastChange(at=at, rank=Rank.MENTION, apply=mention, trace_id=trace_id)


def _stored_mentions(end_user_id: UUID) -> Iterator[PastChange]:
    """Yield the mentions of memories that callers have stored themselves."""
    stored = Memory.objects.filter(end_user_id=end_user_id, trace__isnull=True, subject__isnull=False)
    for subject_id, at in stored.values_list("subject_id", "created_at"):
        mention = partial(_mention, frozenset({subject_id}), set(), at)
        yield PastChange(at=at, rank=Rank.MENTION, apply=mention)


def _mention(mentioned: frozenset[UUID], added: set[UUID], said_at: datetime, state: MemoryState) -> MemoryState:
    for entity_id in (mentioned | added) & state.entities.keys():
        entity = state.entities[entity_id]
        latest = max(said_at, entity.last_mentioned_at or said_at)
        count = entity.mention_count + (entity_id in mentioned)
        state = state.with_entity(replace(entity, mention_count=count, last_mentioned_at=latest))
    return state


def _merges(end_user_id: UUID) -> Iterator[PastChange]:
    """Yield merges and splits: an entity that is merged into another is not known as one of its own."""
    entries = LedgerEntry.objects.filter(end_user_id=end_user_id, object_kind="entity", verb__in=(MERGED, SPLIT))
    rows = {row.id: row for row in Entity.objects.filter(end_user_id=end_user_id)}
    for entry in entries.order_by("created_at"):
        row = rows.get(entry.object_id)
        if row is not None:
            yield PastChange(at=entry.created_at, rank=Rank.ENTITY, apply=_merge(entry.verb, row))


def _merge(verb: str, row: Entity) -> partial[MemoryState]:
    entity = KnownEntity(
        id=row.id,
        name=row.name,
        type=EntityType(row.type),
        mention_count=row.mention_count,
        last_mentioned_at=row.last_mentioned_at,
    )
    return partial(_without, entity.id) if verb == MERGED else partial(_with, entity)


def _without(entity_id: UUID, state: MemoryState) -> MemoryState:
    return replace(state, entities={key: each for key, each in state.entities.items() if key != entity_id})


def _with(entity: KnownEntity, state: MemoryState) -> MemoryState:
    return state.with_uses(entity, state.alias_uses.get(entity.id, ()))
