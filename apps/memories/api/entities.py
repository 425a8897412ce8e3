"""Views of /v1/entities."""

from typing import Any
from uuid import UUID

from rest_framework.request import Request

from apps.api.base import ApiView
from apps.api.operations import operation
from apps.api.problems import Code
from apps.api.schemas import (
    Identifier,
    Limit,
    Moment,
    PageBody,
    QueryParameters,
    RequestBody,
    ResponseBody,
    response_of,
)
from apps.api.validation import not_found, read_id
from apps.memories.api.responses import MemoryResponse, memory_response
from apps.memories.models import Entity, Memory
from apps.memories.services.entities import merge_entities, split_entities
from apps.pipeline.core.enums import EntityType, Scope
from apps.pipeline.core.identifiers import Prefix, show


class EntitiesQuery(QueryParameters):
    """Filters for a list of entities. `user_id` is optional for keys with scope admin."""

    user_id: Identifier | None = None
    types: tuple[EntityType, ...] = ()
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


class EntityList(PageBody):
    """Entities, newest first."""

    results: list[EntityResponse]


class EntityDetailResponse(EntityResponse):
    """An entity with its facts: up to 200 live memories about it, most recently said first."""

    facts: list[MemoryResponse]


def entity_response(entity: Entity) -> EntityResponse:
    """Convert an entity; its end user and aliases must be prefetched."""
    return response_of(EntityResponse, entity, **_fields(entity))


def _fields(entity: Entity) -> dict[str, Any]:
    return {
        "id": entity.shown_id,
        "user_id": entity.end_user.external_id,
        "aliases": [alias.alias for alias in entity.standing_aliases],
        "merged_into": show(Prefix.ENTITY, entity.merged_into_id) if entity.merged_into_id else None,
    }


MAX_FACTS = 200


class EntitiesView(ApiView):
    """The entities of the project."""

    @operation("list_entities", summary="List entities")
    def get(self, request: Request, query: EntitiesQuery) -> EntityList:
        """List entities, newest first, without those merged into others or taken back by a rollback."""
        rows = Entity.objects.standing().filter(project_id=self.caller.project_id)
        if (user := self.end_user_id(query.user_id)) is not None:
            rows = rows.filter(end_user_id=user)
        if query.types:
            rows = rows.filter(type__in=query.types)
        return self.page(
            EntityList, rows.select_related("end_user").prefetch_related("aliases"), entity_response, limit=query.limit
        )


class EntityView(ApiView):
    """One entity."""

    @operation("read_entity", summary="Read an entity", problems=[Code.NOT_FOUND])
    def get(self, request: Request, entity_id: str) -> EntityDetailResponse:
        """Read an entity with its names and facts."""
        entity = self._entity(read_id(Prefix.ENTITY, entity_id))
        facts = Memory.objects.for_end_user(entity.end_user_id).live().filter(subject=entity).to_show()
        shown = [memory_response(memory) for memory in facts.order_by("-said_at", "-id")[:MAX_FACTS]]
        return response_of(EntityDetailResponse, entity, facts=shown, **_fields(entity))

    def _entity(self, entity_id: UUID) -> Entity:
        rows = Entity.objects.filter(project_id=self.caller.project_id, id=entity_id)
        entity = rows.select_related("end_user").prefetch_related("aliases").first()
        if entity is None:
            raise not_found()
        return entity


class EntityMergeView(EntityView):
    """Merging an entity into another."""

    scopes = {"POST": Scope.ADMIN, "DELETE": Scope.ADMIN}
    http_method_names = ["post", "delete", "options"]

    @operation(
        "merge_entity",
        summary="Merge an entity into another",
        problems=[Code.NOT_FOUND, Code.CONFLICT],
        example={"into": "ent_01990000000070008000000000000001"},
    )
    def post(self, request: Request, entity_id: str, body: EntityMergeBody) -> EntityResponse:
        """Merge this entity into another, which takes over its names and memories. Repeating it changes nothing."""
        into = read_id(Prefix.ENTITY, body.into, at="/into")
        wanted = read_id(Prefix.ENTITY, entity_id)
        merge_entities(project_id=self.caller.project_id, entity_id=wanted, into_id=into)
        return entity_response(self._entity(into))

    @operation("split_entity", summary="Undo a merge", problems=[Code.NOT_FOUND, Code.CONFLICT])
    def delete(self, request: Request, entity_id: str) -> EntityResponse:
        """Undo the merge of this entity. Memories added since stay with the other entity."""
        wanted = read_id(Prefix.ENTITY, entity_id)
        split_entities(project_id=self.caller.project_id, entity_id=wanted)
        return entity_response(self._entity(wanted))
