"""Endpoints /v1/entities."""

from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.problems import Code
from apps.api.serializers import (
    OPTIONAL,
    ApiModelSerializer,
    ApiSerializer,
    EnumField,
    NameField,
    PageQuery,
    PublicIdField,
)
from apps.api.viewsets import ApiViewSet, operation
from apps.memories.api.responses import MemorySerializer
from apps.memories.models import Entity, Memory
from apps.memories.services.entities import merge_entities, split_entities
from apps.pipeline.core.enums import EntityType, Scope
from apps.pipeline.core.identifiers import Prefix

MAX_FACTS = 200


class EntitiesQuery(PageQuery):
    """Filters for a list of entities. `user_id` is optional for keys with scope admin."""

    user_id = NameField(**OPTIONAL)
    types = serializers.ListField(child=EnumField(EntityType), default=list)


@extend_schema_serializer(component_name="EntityMergeBody")
class EntityMergeSerializer(ApiSerializer):
    """The entity to merge into."""

    into = PublicIdField(Prefix.ENTITY)


class EntitySerializer(ApiModelSerializer):
    """A person, organisation, place or thing, with all its names."""

    # End user and aliases are prefetched.
    id = serializers.CharField(source="shown_id")
    user_id = serializers.CharField(source="end_user.external_id")
    type = EnumField(EntityType)
    aliases = serializers.ListField(child=serializers.CharField(), source="standing_aliases")
    merged_into = PublicIdField(Prefix.ENTITY, source="merged_into_id", allow_null=True)

    class Meta:
        model = Entity
        fields = [
            *("id", "user_id", "name", "type", "is_user", "aliases", "mention_count", "last_mentioned_at"),
            "merged_into",
        ]


class EntityDetailSerializer(EntitySerializer):
    """An entity with its facts: up to 200 live memories about it, most recently said first."""

    facts = serializers.SerializerMethodField()

    class Meta(EntitySerializer.Meta):
        fields = [*EntitySerializer.Meta.fields, "facts"]

    @extend_schema_field(MemorySerializer(many=True))
    def get_facts(self, entity: Entity) -> Any:
        """Return what is known about it."""
        facts = Memory.objects.for_end_user(entity.end_user_id).live().filter(subject=entity).to_show()
        return MemorySerializer(facts.order_by("-said_at", "-id")[:MAX_FACTS], many=True).data


class EntityViewSet(ApiViewSet):
    """The entities of the project."""

    prefix = Prefix.ENTITY
    queryset = Entity.objects.select_related("end_user").prefetch_related("aliases")
    lookup_url_kwarg = "entity_id"
    scopes = {"POST": Scope.ADMIN, "DELETE": Scope.ADMIN}

    @operation(
        "list_entities", summary="List entities", query=EntitiesQuery, answers={200: EntitySerializer(many=True)}
    )
    def list(self, request: Request) -> Response:
        """List entities, newest first, without those merged into others or taken back by a rollback."""
        rows = Entity.objects.standing().filter(project_id=self.caller.project_id)
        if (user := self.end_user_id(self.query["user_id"])) is not None:
            rows = rows.filter(end_user_id=user)
        if self.query["types"]:
            rows = rows.filter(type__in=self.query["types"])
        return self.answer_page(EntitySerializer, rows.select_related("end_user").prefetch_related("aliases"))

    @operation(
        "read_entity", summary="Read an entity", answers={200: EntityDetailSerializer}, problems=[Code.NOT_FOUND]
    )
    def retrieve(self, request: Request, entity_id: str) -> Response:
        """Read an entity with its names and facts."""
        return self.answer(EntityDetailSerializer, self.get_object())

    @operation(
        "merge_entity",
        summary="Merge an entity into another",
        body=EntityMergeSerializer,
        answers={200: EntitySerializer},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
        example={"into": "ent_01990000000070008000000000000001"},
    )
    def merge(self, request: Request, entity_id: str) -> Response:
        """Merge this entity into another, which takes over its names and memories. Repeating it changes nothing."""
        into = self.valid(EntityMergeSerializer)["into"]
        merge_entities(**self.named, into_id=into)
        return self.answer(EntitySerializer, self.get_queryset().get(pk=into))

    @operation(
        "split_entity",
        summary="Undo a merge",
        answers={200: EntitySerializer},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
    )
    def split(self, request: Request, entity_id: str) -> Response:
        """Undo the merge of this entity. Memories added since stay with the other entity."""
        split_entities(**self.named)
        return self.answer(EntitySerializer, self.get_object())
