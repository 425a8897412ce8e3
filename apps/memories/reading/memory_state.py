"""The state of one end user in the in-memory store, and how each operation changes it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import singledispatch
from typing import Any
from uuid import UUID

from apps.memories.codec import is_stored, read_columns
from apps.pipeline.core.candidate_facts import origin_key
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import LIVE_STATUSES
from apps.pipeline.core.memory_conversion import FIRST_VERSION, as_stored, merged_fields
from apps.pipeline.core.operations import (
    AddAlias,
    AddEntity,
    AddMemory,
    CopyOrigins,
    CountAlias,
    EnqueueWork,
    FlagForReview,
    LinkMemories,
    MarkEntityChanges,
    MergeInto,
    PlannedOrigin,
    ReassignAlias,
    RemoveCopiedOrigins,
    RenameEntity,
    RestoreOrigins,
    ReviseEntity,
    ReviseMemory,
    SetLinkStatus,
    SupersedeMemory,
    WithdrawOrigins,
)
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import StalePlan, Vector
from apps.pipeline.core.statement import StoredMemory


@dataclass(frozen=True, slots=True)
class StoredState:
    """One memory with its origins and vectors; `past` has its former states, oldest first."""

    memory: StoredMemory
    origins: tuple[PlannedOrigin, ...] = ()
    superseded_by: UUID | None = None
    review_reasons: tuple[str, ...] = ()
    past: tuple[StoredMemory, ...] = ()
    vectors: Mapping[str, Vector] = field(default_factory=dict)  # embedder to vector of the content
    withdrawn: tuple[PlannedOrigin, ...] = ()  # by a rollback
    columns: Mapping[str, Any] = field(default_factory=dict)  # revised values that the pipeline never reads


@dataclass(frozen=True, slots=True)
class MemoryState:
    """Everything that is stored of one end user; each operation returns a changed copy."""

    entities: Mapping[UUID, KnownEntity] = field(default_factory=dict)
    memories: Mapping[UUID, StoredState] = field(default_factory=dict)
    links: tuple[LinkMemories, ...] = ()
    queued: tuple[EnqueueWork, ...] = ()
    withdrawn: Mapping[UUID, KnownEntity] = field(default_factory=dict)  # entities, by a rollback

    def with_entity(self, entity: KnownEntity) -> "MemoryState":
        """Return a copy with an entity added or replaced."""
        return replace(self, entities={**self.entities, entity.id: entity})

    def with_memory(self, stored: StoredState) -> "MemoryState":
        """Return a copy with a memory added or replaced."""
        return replace(self, memories={**self.memories, stored.memory.id: stored})


def remember(*, state: MemoryState, plan: WritePlan, now: datetime) -> MemoryState:
    """Apply a plan's operations in their order and return the new state; the old one stays unchanged.

    Expected versions are those before the plan, however often it changes a memory. Raises StalePlan if a memory is
    absent or has another version, or if a live memory has the hash of a new one.
    """
    _check_versions(state, plan)
    live = {each.memory.canonical_hash for each in state.memories.values() if each.memory.status in LIVE_STATUSES}
    for added in plan.of(AddMemory):
        if added.status in LIVE_STATUSES and added.canonical_hash in live:
            raise StalePlan(f"a live memory says the same as {added.memory_id}")
    for operation in plan.operations:
        if isinstance(operation, SupersedeMemory):
            closed = _changed(state.memories[operation.memory_id], **operation.changes(now=now))
            state = state.with_memory(replace(closed, superseded_by=operation.superseded_by))
        else:
            state = _apply(operation, state)
    return _count_mentions(state, plan, now)


def _check_versions(state: MemoryState, plan: WritePlan) -> None:
    versions = {memory_id: stored.memory.version for memory_id, stored in state.memories.items()}
    versions |= {operation.memory_id: FIRST_VERSION for operation in plan.of(AddMemory)}
    changes: Iterable[MergeInto | SupersedeMemory | ReviseMemory] = (
        *plan.of(MergeInto),
        *plan.of(SupersedeMemory),
        *plan.of(ReviseMemory),
    )
    for change in changes:
        if versions.get(change.memory_id) != change.expected_version:
            raise StalePlan(f"memory {change.memory_id} is no longer at version {change.expected_version}")


@singledispatch
def _apply(operation: object, state: MemoryState) -> MemoryState:
    raise TypeError(f"no such operation: {operation!r}")


@_apply.register
def _(operation: AddEntity, state: MemoryState) -> MemoryState:
    return state.with_entity(operation.entity)


@_apply.register
def _(operation: AddAlias, state: MemoryState) -> MemoryState:
    entity = state.entities[operation.entity_id]
    if canonical_text(operation.alias) in map(canonical_text, entity.aliases):
        return state
    return state.with_entity(replace(entity, aliases=(*entity.aliases, operation.alias)))


@_apply.register
def _(operation: ReassignAlias, state: MemoryState) -> MemoryState:
    folded = canonical_text(operation.alias)
    for entity in state.entities.values():
        left = tuple(alias for alias in entity.aliases if canonical_text(alias) != folded)
        if entity.id != operation.entity_id and left != entity.aliases:
            state = state.with_entity(replace(entity, aliases=left))
    return _apply(AddAlias(entity_id=operation.entity_id, alias=operation.alias), state)


@_apply.register
def _(operation: RenameEntity, state: MemoryState) -> MemoryState:
    former = state.entities[operation.entity_id]
    state = state.with_entity(replace(former, name=operation.name))
    return _apply(AddAlias(entity_id=former.id, alias=former.name), state)


@_apply.register
def _(operation: AddMemory, state: MemoryState) -> MemoryState:
    memory = replace(as_stored(operation), origins=_origin_keys(operation.origins))
    return state.with_memory(
        StoredState(memory=memory, origins=operation.origins, superseded_by=operation.superseded_by)
    )


@_apply.register
def _(operation: MergeInto, state: MemoryState) -> MemoryState:
    stored = state.memories[operation.memory_id]
    origins = (*stored.origins, *_missing(operation.origins, in_=stored.origins))
    changed = _changed(stored, origins=_origin_keys(origins), **merged_fields(operation))
    return state.with_memory(replace(changed, origins=origins))


@_apply.register
def _(operation: ReviseMemory, state: MemoryState) -> MemoryState:
    stored = state.memories[operation.memory_id]
    changed = _changed(stored, **read_columns(operation.changes))
    more = {name: value for name, value in operation.changes.items() if not is_stored(name)}
    return state.with_memory(
        replace(
            changed,
            superseded_by=more.pop("superseded_by_id", stored.superseded_by),
            columns={**stored.columns, **more},
        )
    )


@_apply.register
def _(operation: LinkMemories, state: MemoryState) -> MemoryState:
    in_reverse = LinkMemories(from_id=operation.to_id, to_id=operation.from_id, kind=operation.kind)
    if operation in state.links or in_reverse in state.links:
        return state
    return replace(state, links=(*state.links, operation))


@_apply.register
def _(operation: SetLinkStatus, state: MemoryState) -> MemoryState:
    return state  # the pipeline never reads how a link was settled


@_apply.register
def _(operation: CopyOrigins, state: MemoryState) -> MemoryState:
    successor, other = state.memories[operation.memory_id], state.memories[operation.from_id]
    return state.with_memory(
        _with_origins(successor, (*successor.origins, *_missing(other.origins, in_=successor.origins)))
    )


@_apply.register
def _(operation: RemoveCopiedOrigins, state: MemoryState) -> MemoryState:
    successor, other = state.memories[operation.memory_id], state.memories[operation.from_id]
    return state.with_memory(_with_origins(successor, _missing(successor.origins, in_=other.origins)))


@_apply.register
def _(operation: WithdrawOrigins, state: MemoryState) -> MemoryState:
    stored = state.memories[operation.memory_id]
    taken = tuple(each for each in stored.origins if each.turn.id in operation.turn_ids)
    left = _with_origins(stored, tuple(each for each in stored.origins if each not in taken))
    return state.with_memory(replace(left, withdrawn=(*stored.withdrawn, *taken)))


@_apply.register
def _(operation: RestoreOrigins, state: MemoryState) -> MemoryState:
    stored = state.memories[operation.memory_id]
    given = tuple(each for each in stored.withdrawn if each.turn.id in operation.turn_ids)
    whole = _with_origins(stored, (*stored.origins, *_missing(given, in_=stored.origins)))
    return state.with_memory(replace(whole, withdrawn=tuple(each for each in stored.withdrawn if each not in given)))


@_apply.register
def _(operation: ReviseEntity, state: MemoryState) -> MemoryState:
    known = {**state.withdrawn, **state.entities}[operation.entity_id]
    entity = replace(
        known,
        name=operation.name or known.name,
        mention_count=max(known.mention_count + operation.mentions, 0),
        last_mentioned_at=operation.last_mentioned_at or known.last_mentioned_at,
    )
    is_withdrawn = entity.id in state.withdrawn if operation.withdrawn is None else operation.withdrawn
    others = {key: each for key, each in state.entities.items() if key != entity.id}
    hidden = {key: each for key, each in state.withdrawn.items() if key != entity.id}
    if is_withdrawn:
        return replace(state, entities=others, withdrawn={**hidden, entity.id: entity})
    return replace(state, entities={**others, entity.id: entity}, withdrawn=hidden)


@_apply.register
def _(operation: CountAlias, state: MemoryState) -> MemoryState:
    if operation.uses > 0 and operation.entity_id in state.entities:
        return _apply(AddAlias(entity_id=operation.entity_id, alias=operation.alias), state)
    return state  # how often a name was said is not kept here


@_apply.register
def _(operation: MarkEntityChanges, state: MemoryState) -> MemoryState:
    return state  # the pipeline never reads which trace brought a name


def _missing(origins: tuple[PlannedOrigin, ...], *, in_: tuple[PlannedOrigin, ...]) -> tuple[PlannedOrigin, ...]:
    turns = {origin.turn.id for origin in in_}
    return tuple(origin for origin in origins if origin.turn.id not in turns)


def _with_origins(stored: StoredState, origins: tuple[PlannedOrigin, ...]) -> StoredState:
    return replace(stored, origins=origins, memory=replace(stored.memory, origins=_origin_keys(origins)))


@_apply.register
def _(operation: FlagForReview, state: MemoryState) -> MemoryState:
    stored = state.memories[operation.memory_id]
    return state.with_memory(replace(stored, review_reasons=(*stored.review_reasons, operation.reason)))


@_apply.register
def _(operation: EnqueueWork, state: MemoryState) -> MemoryState:
    return replace(state, queued=(*state.queued, operation))


def _changed(stored: StoredState, **changes: Any) -> StoredState:
    memory = replace(stored.memory, version=stored.memory.version + 1, **changes)
    return replace(stored, memory=memory, past=(*stored.past, stored.memory))


def _origin_keys(origins: tuple[PlannedOrigin, ...]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted({origin_key(origin) for origin in origins}))


def _count_mentions(state: MemoryState, plan: WritePlan, now: datetime) -> MemoryState:
    """Count one mention of each entity that the plan's memories refer to, at the time when it was said."""
    statements: Iterable[AddMemory | MergeInto] = (*plan.of(AddMemory), *plan.of(MergeInto))
    for written in statements:
        said_at = max((origin.turn.said_at for origin in written.origins), default=now)
        for mention in (written.candidate.subject, written.candidate.object.entity, *written.candidate.mentions):
            entity = state.entities.get(mention.entity_id) if mention and mention.entity_id else None
            if entity is not None:
                latest = max(said_at, entity.last_mentioned_at or said_at)
                state = state.with_entity(
                    replace(entity, mention_count=entity.mention_count + 1, last_mentioned_at=latest)
                )
    return state
