"""The state of one end user in the in-memory store: memories, entities with their names, links, queued work."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.memory_conversion import origin_key
from apps.pipeline.core.operations import EnqueueWork, LinkMemories, PlannedOrigin
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.statement import StoredMemory

HalfVector = NDArray[np.float16]  # the precision of the database
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class StoredState:
    """One memory with its origins and vectors; `past` has its former states, oldest first."""

    memory: StoredMemory
    origins: tuple[PlannedOrigin, ...] = ()
    superseded_by: UUID | None = None
    review_reasons: tuple[str, ...] = ()
    past: tuple[StoredMemory, ...] = ()
    vectors: Mapping[str, HalfVector] = field(default_factory=dict)  # of the content, by embedder
    withdrawn: tuple[PlannedOrigin, ...] = ()  # by a rollback
    columns: Mapping[str, Any] = field(default_factory=dict)  # revised values that the pipeline never reads
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
    """Everything that is stored of one end user; changes are made to copies."""

    entities: Mapping[UUID, KnownEntity] = field(default_factory=dict)
    alias_uses: Mapping[UUID, tuple[AliasUse, ...]] = field(default_factory=dict)  # by entity
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

    def with_alias(self, entity_id: UUID, alias: str, *, since: datetime, counts: bool = True) -> "MemoryState":
        """Return a copy in which an entity has one more name, or uses a name that it has once more.

        Names come in the order of their uses, then of their age; without `counts` a known name changes nothing.
        """
        entity, folded = self.entities[entity_id], canonical_text(alias)
        uses = {use.folded: use for use in self.uses_of(entity)}
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

    def uses_of(self, entity: KnownEntity) -> tuple[AliasUse, ...]:
        """Return how the names of an entity were used."""
        unknown = (AliasUse(alias, canonical_text(alias), _LONG_AGO) for alias in entity.aliases)
        return self.alias_uses.get(entity.id) or tuple(unknown)


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
    memory = replace(stored.memory, version=stored.memory.version + 1, **changes)
    return replace(stored, memory=memory, past=(*stored.past, stored.memory))


def with_origin(stored: StoredState, origin: PlannedOrigin) -> StoredState:
    """Return a memory with one more origin, unless it has one of the same turn."""
    return with_origins(stored, (*stored.origins, *missing_origins((origin,), in_=stored.origins)))


def with_origins(stored: StoredState, origins: tuple[PlannedOrigin, ...]) -> StoredState:
    """Return a memory with exactly these origins."""
    return replace(stored, origins=origins, memory=replace(stored.memory, origins=origin_keys(origins)))


def missing_origins(origins: tuple[PlannedOrigin, ...], *, in_: tuple[PlannedOrigin, ...]) -> tuple[PlannedOrigin, ...]:
    """Return those of some origins whose turns are not in others."""
    turns = {origin.turn.id for origin in in_}
    return tuple(origin for origin in origins if origin.turn.id not in turns)


def origin_keys(origins: tuple[PlannedOrigin, ...]) -> tuple[tuple[str, str], ...]:
    """Return the sorted keys of origins, as the pipeline compares them."""
    return tuple(sorted({origin_key(origin) for origin in origins}))
