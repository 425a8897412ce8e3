"""Answers of /v1/memories."""

from typing import Any

from django.db.models import Q
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from apps.api.actors import ActorSerializer
from apps.api.serializers import (
    AdjustmentSerializer,
    ApiModelSerializer,
    ApiSerializer,
    EnumField,
    NullIfBlankField,
    PublicIdField,
)
from apps.memories.models import Entity, Memory, MemoryLink, MemoryOrigin, MemoryVersion
from apps.pipeline.core.enums import (
    EntityType,
    Grounding,
    LinkKind,
    LinkStatus,
    MemoryType,
    Polarity,
    Role,
    SourceConfidence,
    SpeechAct,
    Status,
)
from apps.pipeline.core.identifiers import Prefix, with_prefixes
from apps.pipeline.direct_write.outcomes import StoreResult


@extend_schema_serializer(component_name="EntityReference")
class EntityReferenceSerializer(ApiModelSerializer):
    """An entity that a memory refers to."""

    id = serializers.CharField(source="shown_id")
    type = EnumField(EntityType)

    class Meta:
        model = Entity
        fields = ["id", "name", "type"]


class SourceSerializer(ApiSerializer):
    """A request that told a memory: agent, application and run, with the metadata that it sent."""

    agent_id = NullIfBlankField()
    app_id = NullIfBlankField()
    run_id = NullIfBlankField()
    metadata = serializers.DictField()


class MemorySerializer(ApiModelSerializer):
    """A memory. `confidence_parts` add up to `confidence`, limited to the range from 0 to its cap.

    `agent_id`, `app_id`, `run_id` and `metadata` are those of the request that told it first; `further_sources` has the
    others. `private_to` is the agent that alone is told of it; null: all agents of the user are.
    """

    # Rows are read with Memory.objects.to_show.
    id = serializers.CharField(source="shown_id")
    user_id = serializers.CharField(source="end_user.external_id")
    status = EnumField(Status)
    type = EnumField(MemoryType)
    subject = EntityReferenceSerializer(allow_null=True)
    object = serializers.DictField()
    polarity = EnumField(Polarity)
    tags = serializers.ListField(child=serializers.CharField())
    agent_id = NullIfBlankField()
    app_id = NullIfBlankField()
    run_id = NullIfBlankField()
    metadata = serializers.DictField()
    further_sources = SourceSerializer(many=True)
    private_to = NullIfBlankField()
    event_precision = serializers.CharField()
    superseded_by = PublicIdField(Prefix.MEMORY, source="superseded_by_id", allow_null=True)
    confidence_parts = serializers.DictField(child=serializers.FloatField(allow_null=True))
    source_confidence = EnumField(SourceConfidence)
    grounding = EnumField(Grounding)
    speech_act = EnumField(SpeechAct)
    review_reasons = serializers.ListField(child=serializers.CharField())
    role = EnumField(Role)
    trace_id = PublicIdField(Prefix.TRACE, allow_null=True)
    session_id = serializers.CharField(source="session.external_id", default=None, allow_null=True)

    class Meta:
        model = Memory
        fields = [
            *("id", "user_id", "version", "status", "type", "content", "subject", "predicate", "object", "object_text"),
            *("polarity", "stateful", "topic", "tags", "agent_id", "app_id", "run_id", "metadata", "further_sources"),
            *("private_to", "language", "event_at", "event_precision", "said_at", "valid_from", "valid_until"),
            *("superseded_by", "expires_at", "confidence", "confidence_parts", "source_confidence", "grounding"),
            *("speech_act", "importance", "recurrence", "review_reasons", "role", "extractor", "evidence", "trace_id"),
            *("session_id", "created_at", "updated_at"),
        ]


class StoreOutcomeSerializer(ApiSerializer):
    """What became of a memory: stored, merged into a known one, superseded by a later value, or waiting for review.

    `may_conflict_with` names known memories that contradict it, or that are alike and differ in a number, date or name:
    all of them stay as they are until they are revised or retracted.
    """

    id = PublicIdField(Prefix.MEMORY, source="memory_id")
    outcome = EnumField(StoreResult, source="result")
    supersedes = serializers.ListField(child=PublicIdField(Prefix.MEMORY))
    review_reasons = serializers.ListField(child=serializers.CharField())
    may_conflict_with = serializers.ListField(child=PublicIdField(Prefix.MEMORY))


class StoredMemoriesSerializer(ApiSerializer):
    """The stored memories and their outcomes, in the order of the request.

    `adjusted`: what was stored otherwise than it was sent.
    """

    results = MemorySerializer(many=True)
    outcomes = StoreOutcomeSerializer(many=True)
    adjusted = AdjustmentSerializer(many=True)


class OriginSerializer(ApiModelSerializer):
    """A turn that supports a memory, with the quoted words."""

    turn = PublicIdField(Prefix.TURN, source="turn_id")
    trace_id = PublicIdField(Prefix.TRACE)
    session_id = serializers.CharField(source="session.external_id")
    role = EnumField(Role)

    class Meta:
        model = MemoryOrigin
        fields = ["turn", "trace_id", "session_id", "role", "evidence", "said_at"]


class LinkSerializer(ApiModelSerializer):
    """A link to another memory that contradicts this one or may duplicate it."""

    id = PublicIdField(Prefix.LINK)
    kind = EnumField(LinkKind)
    status = EnumField(LinkStatus)
    memory_id = serializers.SerializerMethodField()

    class Meta:
        model = MemoryLink
        fields = ["id", "kind", "status", "memory_id"]

    @extend_schema_field(PublicIdField(Prefix.MEMORY))
    def get_memory_id(self, link: MemoryLink) -> str:
        """Return the memory at the other end, seen from the one in the context."""
        mine = self.context["memory_id"]
        other = link.to_memory_id if link.from_memory_id == mine else link.from_memory_id
        return PublicIdField(Prefix.MEMORY).to_representation(other)


class MemoryDetailSerializer(MemorySerializer):
    """A memory with its source turns and its links to other memories."""

    origins = serializers.SerializerMethodField()
    links = serializers.SerializerMethodField()

    class Meta(MemorySerializer.Meta):
        fields = [*MemorySerializer.Meta.fields, "origins", "links"]

    @extend_schema_field(OriginSerializer(many=True))
    def get_origins(self, memory: Memory) -> Any:
        """Return the turns that support it."""
        origins = MemoryOrigin.objects.standing().filter(end_user_id=memory.end_user_id, memory=memory)
        return OriginSerializer(origins.select_related("session"), many=True).data

    @extend_schema_field(LinkSerializer(many=True))
    def get_links(self, memory: Memory) -> Any:
        """Return its links."""
        mine = Q(from_memory=memory) | Q(to_memory=memory)
        links = MemoryLink.objects.filter(mine, end_user_id=memory.end_user_id)
        return LinkSerializer(links, many=True, context={"memory_id": memory.id}).data


class VersionSerializer(ApiModelSerializer):
    """A past version: the former values of the changed fields, and when they were current."""

    actor = ActorSerializer()
    trace_id = PublicIdField(Prefix.TRACE, allow_null=True)
    values = serializers.SerializerMethodField()

    class Meta:
        model = MemoryVersion
        fields = ["version", "operation", "actor", "trace_id", "values", "known_from", "known_until"]

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_values(self, version: MemoryVersion) -> Any:
        """Return the values with identifiers as callers know them."""
        return with_prefixes(version.values)


class HistorySerializer(ApiSerializer):
    """The current memory and its changes, oldest first."""

    memory = MemorySerializer()
    versions = VersionSerializer(many=True)
