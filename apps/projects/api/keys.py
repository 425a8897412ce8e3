"""Endpoints /v1/keys, for keys with scope admin; any key may read itself."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.problems import Code
from apps.api.serializers import (
    OPTIONAL,
    ApiModelSerializer,
    EnumField,
    MomentField,
    NameField,
    PageQuery,
    PublicIdField,
)
from apps.api.viewsets import ApiViewSet, operation
from apps.pipeline.core.enums import MemorySharing, Scope
from apps.pipeline.core.identifiers import Prefix
from apps.projects.api_keys import create_key, revoke_key
from apps.tenants.models import ApiKey
from apps.traces.policies import active_policy


class KeySerializer(ApiModelSerializer):
    """An API key without its secret."""

    id = PublicIdField(Prefix.API_KEY, read_only=True)
    name = NameField(max_length=120)
    prefix = serializers.SerializerMethodField()
    scopes = serializers.ListField(child=EnumField(Scope), min_length=1, max_length=len(Scope))
    expires_at = MomentField(**OPTIONAL)

    class Meta:
        model = ApiKey
        fields = ["id", "name", "prefix", "scopes", "created_at", "expires_at", "revoked_at", "last_used_at"]
        read_only_fields = ["created_at", "revoked_at", "last_used_at"]

    def get_prefix(self, key: ApiKey) -> str:
        """Return what the text of the key begins with."""
        return f"mp_{key.prefix}"


class CreatedKeySerializer(KeySerializer):
    """A new API key. `key` is returned only once; it is null in the response to a repeated request."""

    key = serializers.CharField(read_only=True, allow_null=True)

    class Meta(KeySerializer.Meta):
        fields = [*KeySerializer.Meta.fields, "key"]


class CurrentKeySerializer(KeySerializer):
    """The API key of the request, its project, and whether agents share their memories there."""

    project_id = PublicIdField(Prefix.PROJECT)
    memory_sharing = serializers.SerializerMethodField()

    class Meta(KeySerializer.Meta):
        fields = [*KeySerializer.Meta.fields, "project_id", "memory_sharing"]

    @extend_schema_field(EnumField(MemorySharing))
    def get_memory_sharing(self, key: ApiKey) -> MemorySharing:
        """Return the setting of the project."""
        return active_policy(project_id=key.project_id).sharing.memory_sharing


class KeyViewSet(ApiViewSet):
    """The API keys of the project."""

    prefix = Prefix.API_KEY
    queryset = ApiKey.objects.all()
    lookup_url_kwarg = "key_id"
    scopes = dict.fromkeys(("GET", "HEAD", "POST", "DELETE"), Scope.ADMIN)
    archived_methods = ("DELETE",)

    @operation("list_keys", summary="List keys", query=PageQuery, answers={200: KeySerializer(many=True)})
    def list(self, request: Request) -> Response:
        """List the project's keys, newest first, without their secrets."""
        return self.answer_page(KeySerializer, self.get_queryset())

    @operation(
        "create_key",
        summary="Create a key",
        body=KeySerializer,
        answers={201: CreatedKeySerializer},
        example={"name": "agent", "scopes": ["read", "write"]},
        is_repeatable=True,
        kept={"key": None},
    )
    def create(self, request: Request) -> Response:
        """Create a key. Its secret is returned only once: in the response to a repeated request `key` is null."""
        created = create_key(project_id=self.caller.project_id, **self.valid(KeySerializer))
        return Response({**KeySerializer(created.key).data, "key": created.text}, status=201)

    @operation("revoke_key", summary="Revoke a key", answers={204: None}, problems=[Code.NOT_FOUND])
    def destroy(self, request: Request, key_id: str) -> Response:
        """Revoke a key immediately. Repeating it changes nothing."""
        revoke_key(**self.named)
        return Response(status=204)


class CurrentKeyViewSet(ApiViewSet):
    """The API key of the request."""

    @operation("read_current_key", summary="Read the key of the request", answers={200: CurrentKeySerializer})
    def retrieve(self, request: Request) -> Response:
        """Tell what the key of the request may do, and in which project."""
        return self.answer(CurrentKeySerializer, ApiKey.objects.get(id=self.caller.api_key_id))
