"""Apply the operations of a plan to the state of one end user in the in-memory store."""

from dataclasses import replace
from datetime import datetime
from functools import singledispatch

from apps.memories.codec import STORED_COLUMNS, read_columns
from apps.memories.reading.memory_state import (
    AliasUse,
    MemoryState,
    StoredState,
    mentions_of,
    missing_origins,
    origin_keys,
    with_changes,
    with_mentions,
    with_origins,
)
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.draft import Request
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
from apps.pipeline.core.ports import StalePlan


def remember(*, state: MemoryState, plan: WritePlan, now: datetime, request: Request | None = None) -> MemoryState:
    """Apply a plan's operations in their order and return the new state; the old one stays unchanged.

    New memories take topic and metadata of the request that brings them. Expected versions are those before the plan,
    however often it changes a memory. Raises StalePlan if a memory is absent or has another version, or if a live
    memory has the hash of a new one.
    """
    _check_versions(state, plan)
    memories = [each.memory for each in state.memories.values() if each.memory.status in LIVE_STATUSES]
    live = {(each.private_to, each.canonical_hash) for each in memories}
    for added in plan.of(AddMemory):
        if added.status in LIVE_STATUSES and (added.private_to, added.canonical_hash) in live:
            raise StalePlan(f"a live memory says the same as {added.memory_id}")
    for operation in plan.operations:
        state = with_operation(operation, state, now)
        if isinstance(operation, AddMemory) and request is not None:
            state = state.with_memory(_as_requested(state.memories[operation.memory_id], request))
    mentioned, said_at = mentions_of(plan, now=now)
    new = {operation.entity.id for operation in plan.of(AddEntity)}
    return with_mentions(state, mentioned=mentioned, added=new, said_at=said_at)


def _as_requested(stored: StoredState, request: Request) -> StoredState:
    """Give a new memory what the writer takes from the request: topic and metadata, unless it has its own."""
    memory = stored.memory
    topic, metadata = memory.topic or request.topic, memory.metadata or dict(request.metadata)
    added = replace(memory, topic=topic, metadata=metadata)
    return replace(stored, memory=added, session_id=request.origin.session_id)


def _check_versions(state: MemoryState, plan: WritePlan) -> None:
    versions = {memory_id: stored.memory.version for memory_id, stored in state.memories.items()}
    versions |= {operation.memory_id: FIRST_VERSION for operation in plan.of(AddMemory)}
    changes: list[MergeInto | SupersedeMemory | ReviseMemory] = [*plan.of(MergeInto), *plan.of(SupersedeMemory)]
    for change in (*changes, *plan.of(ReviseMemory)):
        if versions.get(change.memory_id) != change.expected_version:
            raise StalePlan(f"memory {change.memory_id} is no longer at version {change.expected_version}")


@singledispatch
def with_operation(operation: object, state: MemoryState, now: datetime) -> MemoryState:
    """Return a state in which one operation was applied. Raises KeyError where it changes what is not there."""
    raise TypeError(f"no such operation: {operation!r}")


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
        uses = state.uses_of(entity)
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
    added = StoredState(
        as_stored(operation), superseded_by=operation.superseded_by, created_at=now, session_id=session_id
    )
    return state.with_memory(with_origins(added, operation.origins))


@with_operation.register
def _(operation: SupersedeMemory, state: MemoryState, now: datetime) -> MemoryState:
    closed = with_changes(state.memories[operation.memory_id], **operation.changes(now=now))
    return state.with_memory(replace(closed, superseded_by=operation.superseded_by))


@with_operation.register
def _(operation: MergeInto, state: MemoryState, now: datetime) -> MemoryState:
    stored = state.memories[operation.memory_id]
    origins = (*stored.origins, *missing_origins(operation.origins, in_=stored.origins))
    changed = with_changes(stored, origins=origin_keys(origins), **merged_fields(operation))
    return state.with_memory(replace(changed, origins=origins))


@with_operation.register
def _(operation: ReviseMemory, state: MemoryState, now: datetime) -> MemoryState:
    stored = state.memories[operation.memory_id]
    changed = with_changes(stored, **read_columns(operation.changes))
    more = {name: value for name, value in operation.changes.items() if name not in STORED_COLUMNS}
    return state.with_memory(
        replace(
            changed,
            superseded_by=more.pop("superseded_by_id", stored.superseded_by),
            columns={**stored.columns, **more},
        )
    )


@with_operation.register
def _(operation: LinkMemories, state: MemoryState, now: datetime) -> MemoryState:
    in_reverse = LinkMemories(from_id=operation.to_id, to_id=operation.from_id, kind=operation.kind)
    if operation in state.links or in_reverse in state.links:
        return state
    return replace(state, links=(*state.links, operation))


@with_operation.register
def _(operation: CopyOrigins, state: MemoryState, now: datetime) -> MemoryState:
    successor, other = state.memories[operation.memory_id], state.memories[operation.from_id]
    return state.with_memory(
        with_origins(successor, (*successor.origins, *missing_origins(other.origins, in_=successor.origins)))
    )


@with_operation.register
def _(operation: RemoveCopiedOrigins, state: MemoryState, now: datetime) -> MemoryState:
    successor, other = state.memories[operation.memory_id], state.memories[operation.from_id]
    return state.with_memory(with_origins(successor, missing_origins(successor.origins, in_=other.origins)))


@with_operation.register
def _(operation: FlagForReview, state: MemoryState, now: datetime) -> MemoryState:
    stored = state.memories[operation.memory_id]
    return state.with_memory(replace(stored, review_reasons=(*stored.review_reasons, operation.reason)))


@with_operation.register
def _(operation: EnqueueWork, state: MemoryState, now: datetime) -> MemoryState:
    return replace(state, queued=(*state.queued, operation))


@with_operation.register
def _(operation: WithdrawOrigins, state: MemoryState, now: datetime) -> MemoryState:
    stored = state.memories[operation.memory_id]
    taken = tuple(each for each in stored.origins if each.turn.id in operation.turn_ids)
    left = with_origins(stored, tuple(each for each in stored.origins if each not in taken))
    return state.with_memory(replace(left, withdrawn=(*stored.withdrawn, *taken)))


@with_operation.register
def _(operation: RestoreOrigins, state: MemoryState, now: datetime) -> MemoryState:
    stored = state.memories[operation.memory_id]
    given = tuple(each for each in stored.withdrawn if each.turn.id in operation.turn_ids)
    whole = with_origins(stored, (*stored.origins, *missing_origins(given, in_=stored.origins)))
    return state.with_memory(replace(whole, withdrawn=tuple(each for each in stored.withdrawn if each not in given)))


@with_operation.register
def _(operation: ReviseEntity, state: MemoryState, now: datetime) -> MemoryState:
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


@with_operation.register
def _(operation: CountAlias, state: MemoryState, now: datetime) -> MemoryState:
    entity = state.entities.get(operation.entity_id)
    if entity is None:
        return state  # a withdrawn entity is not found by any name
    folded = canonical_text(operation.alias)
    uses = {use.folded: use for use in state.uses_of(entity)}
    known = uses.get(folded, AliasUse(operation.alias, folded, now, count=0))
    uses[folded] = replace(known, count=known.count + operation.uses)
    return state.with_uses(entity, tuple(use for use in uses.values() if use.count > 0))


@with_operation.register(SetLinkStatus)
@with_operation.register(MarkEntityChanges)
def _(operation: object, state: MemoryState, now: datetime) -> MemoryState:
    return state  # the pipeline never reads how a link was settled, nor which trace brought a name
