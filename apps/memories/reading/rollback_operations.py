"""What the operations of rollbacks do to the state of an end user in the in-memory store."""

from dataclasses import replace
from datetime import datetime

from apps.memories.reading.memory_state import AliasUse, MemoryState, missing_origins, with_origins
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.operations import CountAlias, RestoreOrigins, ReviseEntity, WithdrawOrigins


def withdraw_origins(operation: WithdrawOrigins, state: MemoryState, now: datetime) -> MemoryState:
    """Set the origins of some turns aside."""
    stored = state.memories[operation.memory_id]
    taken = tuple(each for each in stored.origins if each.turn.id in operation.turn_ids)
    left = with_origins(stored, tuple(each for each in stored.origins if each not in taken))
    return state.with_memory(replace(left, withdrawn=(*stored.withdrawn, *taken)))


def restore_origins(operation: RestoreOrigins, state: MemoryState, now: datetime) -> MemoryState:
    """Give a memory the origins of some turns back."""
    stored = state.memories[operation.memory_id]
    given = tuple(each for each in stored.withdrawn if each.turn.id in operation.turn_ids)
    whole = with_origins(stored, (*stored.origins, *missing_origins(given, in_=stored.origins)))
    return state.with_memory(replace(whole, withdrawn=tuple(each for each in stored.withdrawn if each not in given)))


def revise_entity(operation: ReviseEntity, state: MemoryState, now: datetime) -> MemoryState:
    """Change the name and the mentions of an entity, withdraw it or bring it back."""
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


def count_alias(operation: CountAlias, state: MemoryState, now: datetime) -> MemoryState:
    """Change how often a name was used; one that is not used any more is lost."""
    entity = state.entities.get(operation.entity_id)
    if entity is None:
        return state  # a withdrawn entity is not found by any name
    folded = canonical_text(operation.alias)
    uses = {use.folded: use for use in state.uses_of(entity)}
    known = uses.get(folded, AliasUse(operation.alias, folded, now, count=0))
    uses[folded] = replace(known, count=known.count + operation.uses)
    return state.with_uses(entity, tuple(use for use in uses.values() if use.count > 0))
