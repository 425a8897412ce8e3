"""The state of one end user in the in-memory store, and what the operations of a plan make of it."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import singledispatch
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from apps.memories.codec import read_columns
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.draft import KnownEntity, Request
from apps.pipeline.core.enums import LIVE_STATUSES
from apps.pipeline.core.memory_conversion import FIRST_VERSION, as_stored, merged_fields, origin_key
from apps.pipeline.core.operations import (
    AddAlias,
    AddEntity,
    AddMemory,
    MergeInto,
    ReassignAlias,
    RenameEntity,
    ReviseMemory,
    SupersedeMemory,
)
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import StalePlan
from apps.pipeline.core.statement import StoredMemory

HalfVector = NDArray[np.float16]  # the precision of the database
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class StoredState:
    """One memory, and what decides whether it is relevant."""

    memory: StoredMemory
    vectors: Mapping[str, HalfVector] = field(default_factory=dict)  # of the content, by embedder
    created_at: datetime = _LONG_AGO
    session_id: UUID | None = None  # in which it was added


@dataclass(frozen=True, slots=True)
class AliasUse:
    """How often an entity was given a name, and since when it has it."""

    alias: str
    folded: str
    since: datetime
    count: int = 1


@dataclass(frozen=True, slots=True)
class MemoryState:
    """What the pipeline reads of one end user; changes are made to copies."""

    entities: Mapping[UUID, KnownEntity] = field(default_factory=dict)
    alias_uses: Mapping[UUID, tuple[AliasUse, ...]] = field(default_factory=dict)  # by entity
    memories: Mapping[UUID, StoredState] = field(default_factory=dict)

    def with_entity(self, entity: KnownEntity) -> "MemoryState":
        """Return a copy with an entity added or replaced."""
        return replace(self, entities={**self.entities, entity.id: entity})

    def with_memory(self, stored: StoredState) -> "MemoryState":
        """Return a copy with a memory added or replaced."""
        return replace(self, memories={**self.memories, stored.memory.id: stored})

    def with_alias(self, entity_id: UUID, alias: str, *, since: datetime, counts: bool = True) -> "MemoryState":
        """Return a copy in which an entity has one more name, or uses a name that it has once more.

        Names come in the order of their uses, then of their age; without `counts` a known name changes nothing.
        """
        entity, folded = self.entities[entity_id], canonical_text(alias)
        uses = {use.folded: use for use in self.alias_uses.get(entity_id, ())}
        known = uses.get(folded)
        if known is not None and not counts:
            return self
        uses[folded] = replace(known, count=known.count + 1) if known else AliasUse(alias, folded, since)
        return self.with_uses(entity, tuple(uses.values()))

    def with_uses(self, entity: KnownEntity, uses: tuple[AliasUse, ...]) -> "MemoryState":
        """Return a copy in which an entity has exactly these names."""
        ordered = tuple(sorted(uses, key=lambda use: (-use.count, use.since, use.folded)))
        named = replace(entity, aliases=tuple(use.alias for use in ordered))
        return replace(self.with_entity(named), alias_uses={**self.alias_uses, entity.id: ordered})


def with_mentions(
    state: MemoryState, *, mentioned: Set[UUID], said_at: datetime, added: Set[UUID] = frozenset()
) -> MemoryState:
    """Return a state in which entities were mentioned once more, or added, when something was said."""
    for entity_id in (mentioned | added) & state.entities.keys():
        entity = state.entities[entity_id]
        latest = max(said_at, entity.last_mentioned_at or said_at)
        count = entity.mention_count + (entity_id in mentioned)
        state = state.with_entity(replace(entity, mention_count=count, last_mentioned_at=latest))
    return state


def mentions_of(plan: WritePlan, *, now: datetime) -> tuple[set[UUID], datetime]:
    """Return the entities that are subject or object of a plan's statements, and when the last turn of it was said."""
    statements = plan.statements()
    said_at = max((origin.turn.said_at for each in statements for origin in each.origins), default=now)
    named = (mention for each in statements for mention in (each.candidate.subject, each.candidate.object.entity))
    return {each.entity_id for each in named if each is not None and each.entity_id is not None}, said_at


def with_changes(stored: StoredState, **changes: Any) -> StoredState:
    """Return a memory with changed fields, in its next version."""
    return replace(stored, memory=replace(stored.memory, version=stored.memory.version + 1, **changes))


def with_origins(stored: StoredState, said_in: Iterable[tuple[str, str]]) -> StoredState:
    """Return a memory that was said in these sessions on these days too."""
    origins = tuple(sorted({*stored.memory.origins, *said_in}))
    return replace(stored, memory=replace(stored.memory, origins=origins))


def remember(*, state: MemoryState, plan: WritePlan, now: datetime, request: Request | None = None) -> MemoryState:
    """Apply a plan's operations in their order and return the new state; the old one stays unchanged.

    New memories take topic and metadata of the request that brings them, unless they have their own. Expected versions
    are those before the plan, however often it changes a memory. Raises StalePlan if a memory is absent or has another
    version, or if a live memory has the hash of a new one.
    """
    versions = {memory_id: stored.memory.version for memory_id, stored in state.memories.items()}
    versions |= {operation.memory_id: FIRST_VERSION for operation in plan.of(AddMemory)}
    changes: list[MergeInto | SupersedeMemory | ReviseMemory] = [*plan.of(MergeInto), *plan.of(SupersedeMemory)]
    for change in (*changes, *plan.of(ReviseMemory)):
        if versions.get(change.memory_id) != change.expected_version:
            raise StalePlan(f"memory {change.memory_id} is no longer at version {change.expected_version}")
    memories = [each.memory for each in state.memories.values() if each.memory.status in LIVE_STATUSES]
    live = {(each.private_to, each.canonical_hash) for each in memories}
    for added in plan.of(AddMemory):
        if added.status in LIVE_STATUSES and (added.private_to, added.canonical_hash) in live:
            raise StalePlan(f"a live memory says the same as {added.memory_id}")
    for operation in plan.operations:
        state = with_operation(operation, state, now)
        if isinstance(operation, AddMemory) and request is not None:
            stored = state.memories[operation.memory_id]
            topic = stored.memory.topic or request.topic
            metadata = stored.memory.metadata or dict(request.metadata)
            memory = replace(stored.memory, topic=topic, metadata=metadata)
            state = state.with_memory(replace(stored, memory=memory, session_id=request.origin.session_id))
    mentioned, said_at = mentions_of(plan, now=now)
    new = {operation.entity.id for operation in plan.of(AddEntity)}
    return with_mentions(state, mentioned=mentioned, added=new, said_at=said_at)


@singledispatch
def with_operation(operation: object, state: MemoryState, now: datetime) -> MemoryState:
    """Return a state in which one operation was applied. Raises KeyError where it changes what is not there.

    Operations that no trace plans, work to do later, and what only people read leave the state as it is.
    """
    return state


@with_operation.register
def _(operation: AddEntity, state: MemoryState, now: datetime) -> MemoryState:
    entity = operation.entity
    uses = {canonical_text(alias): alias for alias in entity.aliases}
    return state.with_uses(entity, tuple(AliasUse(alias, folded, now) for folded, alias in uses.items()))


@with_operation.register
def _(operation: AddAlias, state: MemoryState, now: datetime) -> MemoryState:
    return state.with_alias(operation.entity_id, operation.alias, since=now)


@with_operation.register
def _(operation: ReassignAlias, state: MemoryState, now: datetime) -> MemoryState:
    folded = canonical_text(operation.alias)
    for entity in state.entities.values():
        uses = state.alias_uses.get(entity.id, ())
        left = tuple(use for use in uses if use.folded != folded)
        if entity.id != operation.entity_id and left != uses:
            state = state.with_uses(entity, left)
    return state.with_alias(operation.entity_id, operation.alias, since=now)


@with_operation.register
def _(operation: RenameEntity, state: MemoryState, now: datetime) -> MemoryState:
    former = state.entities[operation.entity_id]
    state = state.with_entity(replace(former, name=operation.name))
    return state.with_alias(former.id, former.name, since=now, counts=False)


@with_operation.register
def _(operation: AddMemory, state: MemoryState, now: datetime) -> MemoryState:
    session_id = operation.origins[0].session_id if operation.origins else None
    added = StoredState(as_stored(operation), created_at=now, session_id=session_id)
    return state.with_memory(with_origins(added, map(origin_key, operation.origins)))


@with_operation.register
def _(operation: SupersedeMemory, state: MemoryState, now: datetime) -> MemoryState:
    return state.with_memory(with_changes(state.memories[operation.memory_id], **operation.changes(now=now)))


@with_operation.register
def _(operation: MergeInto, state: MemoryState, now: datetime) -> MemoryState:
    changed = with_changes(state.memories[operation.memory_id], **merged_fields(operation))
    return state.with_memory(with_origins(changed, map(origin_key, operation.origins)))


@with_operation.register
def _(operation: ReviseMemory, state: MemoryState, now: datetime) -> MemoryState:
    return state.with_memory(with_changes(state.memories[operation.memory_id], **read_columns(operation.changes)))
