"""Schemas of /v1/entities."""

from typing import Any

from apps.api.schemas.common import Identifier, Limit, Moment, QueryParameters, RequestBody, ResponseBody
from apps.api.schemas.memory_responses import MemoryResponse
from apps.memories.models import Entity
from apps.pipeline.core.enums import EntityType
from apps.pipeline.core.identifiers import Prefix, show


class EntitiesQuery(QueryParameters):
    """Filters for a list of entities. `user_id` is optional for keys with scope admin."""

    user_id: Identifier | None = None
    type: tuple[EntityType, ...] = ()
    cursor: str | None = None
    limit: Limit = 50


class EntityMergeBody(RequestBody):
    """The entity to merge into."""

    into: str


class EntityResponse(ResponseBody):
    """A person, organisation, place or thing, with all its names."""

    id: str
    user_id: str
    name: str
    type: EntityType
    is_user: bool
    aliases: list[str]
    mention_count: int
    last_mentioned_at: Moment
    merged_into: str | None


class EntityList(ResponseBody):
    """Entities, newest first."""

    next: str | None
    previous: str | None
    results: list[EntityResponse]


class EntityDetailResponse(EntityResponse):
    """An entity with its facts: up to 200 live memories about it, most recently said first."""

    facts: list[MemoryResponse]


def entity_response(entity: Entity) -> EntityResponse:
    """Convert an entity; its end user and aliases must be prefetched."""
    return EntityResponse(**_fields(entity))


def entity_detail_response(entity: Entity, *, facts: list[MemoryResponse]) -> EntityDetailResponse:
    """Convert an entity with its facts."""
    return EntityDetailResponse(**_fields(entity), facts=facts)


def _fields(entity: Entity) -> dict[str, Any]:
    return {
        "id": entity.shown_id,
        "user_id": entity.end_user.external_id,
        "name": entity.name,
        "type": EntityType(entity.type),
        "is_user": entity.is_user,
        "aliases": [alias.alias for alias in entity.standing_aliases],
        "mention_count": entity.mention_count,
        "last_mentioned_at": entity.last_mentioned_at,
        "merged_into": show(Prefix.ENTITY, entity.merged_into_id) if entity.merged_into_id else None,
    }
