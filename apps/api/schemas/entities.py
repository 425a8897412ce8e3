"""Shapes of /v1/entities."""

from datetime import datetime
from typing import Any

from apps.api.schemas.common import Answer, Body, Identifier, Limit, Query
from apps.api.schemas.memory_answers import MemoryAnswer
from apps.memories.models import Entity
from apps.pipeline.core.enums import EntityType
from apps.pipeline.core.identifiers import Prefix, show


class EntitiesQuery(Query):
    """Which entities to list; `user_id` may be left out by keys of scope admin."""

    user_id: Identifier | None = None
    type: tuple[EntityType, ...] = ()
    cursor: str | None = None
    limit: Limit = 50


class EntityMergeBody(Body):
    """Which entity an entity is merged into."""

    into: str


class EntityAnswer(Answer):
    """A person, organisation, place… with all its names."""

    id: str
    user_id: str
    name: str
    type: EntityType
    is_user: bool
    aliases: list[str]
    mention_count: int
    last_mentioned_at: datetime
    merged_into: str | None


class EntityPage(Answer):
    """Entities, the newest first."""

    next: str | None
    previous: str | None
    results: list[EntityAnswer]


class EntityDetail(EntityAnswer):
    """An entity with what is held to be true of it, up to 200 memories, the latest said first."""

    facts: list[MemoryAnswer]


def entity_answer(entity: Entity) -> EntityAnswer:
    """Show an entity; its end user and aliases are read with it."""
    return EntityAnswer(**_fields(entity))


def entity_detail(entity: Entity, *, facts: list[MemoryAnswer]) -> EntityDetail:
    """Show an entity with its facts."""
    return EntityDetail(**_fields(entity), facts=facts)


def _fields(entity: Entity) -> dict[str, Any]:
    return {
        "id": entity.shown_id,
        "user_id": entity.end_user.external_id,
        "name": entity.name,
        "type": EntityType(entity.type),
        "is_user": entity.is_user,
        "aliases": [alias.alias for alias in entity.aliases.all()],
        "mention_count": entity.mention_count,
        "last_mentioned_at": entity.last_mentioned_at,
        "merged_into": show(Prefix.ENTITY, entity.merged_into_id) if entity.merged_into_id else None,
    }
