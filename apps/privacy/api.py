"""Endpoints /v1/users and /v1/erasures, for keys with scope admin; what is counted, for all keys."""

from enum import StrEnum

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.problems import Code
from apps.api.serializers import ApiModelSerializer, ApiSerializer, EnumField, PageQuery
from apps.api.viewsets import ApiViewSet, operation
from apps.common.rows import get_or_refuse
from apps.memories.user_stats import user_stats
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix, end_user_id
from apps.pipeline.core.input_validation import checked_name
from apps.privacy.users import erase_user, export_user, list_users
from apps.tenants.models import EndUser, Erasure


class UserSerializer(ApiModelSerializer):
    """An end user, with the number of live memories, sessions and turns."""

    id = serializers.CharField(source="shown_id")
    user_id = serializers.CharField(source="external_id")
    memories = serializers.IntegerField(source="live_memories")
    sessions = serializers.IntegerField(source="session_count")
    turns = serializers.IntegerField(source="turn_count")

    class Meta:
        model = EndUser
        fields = ["id", "user_id", "memories", "sessions", "turns", "created_at"]


class UserStatsSerializer(ApiSerializer):
    """Numbers of what is known about an end user.

    `by_status` counts all memories; `by_type` and `by_agent` the live ones, the latter by the agent that told them
    first (the hundred agents with most). The times are those of live memories.
    """

    user_id = serializers.CharField()
    by_status = serializers.DictField(child=serializers.IntegerField())
    by_type = serializers.DictField(child=serializers.IntegerField())
    by_agent = serializers.DictField(child=serializers.IntegerField())
    sessions = serializers.IntegerField()
    turns = serializers.IntegerField()
    first_said_at = serializers.DateTimeField(allow_null=True)
    last_said_at = serializers.DateTimeField(allow_null=True)
    last_turn_at = serializers.DateTimeField(allow_null=True)


class ErasureStatus(StrEnum):
    """Whether everything is deleted."""

    RUNNING = "running"
    DONE = "done"


class ErasureSerializer(ApiModelSerializer):
    """The receipt of an erasure; `deleted` counts the rows by table."""

    id = serializers.CharField(source="shown_id")
    status = serializers.SerializerMethodField()
    deleted = serializers.DictField(source="counts", child=serializers.IntegerField())

    class Meta:
        model = Erasure
        fields = ["id", "status", "deleted", "requested_at", "finished_at"]

    @extend_schema_field(EnumField(ErasureStatus))
    def get_status(self, erasure: Erasure) -> ErasureStatus:
        """Return whether everything is deleted."""
        return ErasureStatus.DONE if erasure.finished_at else ErasureStatus.RUNNING


class UserViewSet(ApiViewSet):
    """The end users of the project, by the caller's own names of them."""

    scopes = dict.fromkeys(("GET", "HEAD", "DELETE"), Scope.ADMIN)
    archived_methods = ("DELETE",)  # an archive must not keep what somebody has a right to have erased

    @operation("list_users", summary="List end users", query=PageQuery, answers={200: UserSerializer(many=True)})
    def list(self, request: Request) -> Response:
        """List the end users with the numbers of their live memories, sessions and turns, ordered by `user_id`."""
        users = list_users(project_id=self.caller.project_id)
        return self.answer_page(UserSerializer, users, ordering="external_id")

    @operation(
        "erase_user",
        summary="Erase an end user",
        answers={200: ErasureSerializer, 202: ErasureSerializer},
        problems=[Code.NOT_FOUND, Code.INVALID_REQUEST],
    )
    def destroy(self, request: Request, user_id: str) -> Response:
        """Delete everything that the end user said and everything that was derived from it, in all tables.

        Returns 200 with the receipt when that is done, or 202 after two seconds; a worker then goes on, and
        `GET /v1/erasures/{erasure_id}` returns the status. While an erasure runs, requests that would write about the
        user are answered with 409. Afterwards the user may return and starts with nothing.
        """
        erasure = erase_user(project_id=self.caller.project_id, user_id=checked_name(user_id, at="user_id"))
        return self.answer(ErasureSerializer, erasure, status=200 if erasure.finished_at else 202)

    @operation(
        "export_user",
        summary="Export an end user",
        answers={(200, "application/jsonl"): OpenApiTypes.STR},
        problems=[Code.NOT_FOUND, Code.INVALID_REQUEST],
    )
    def export(self, request: Request, user_id: str) -> StreamingHttpResponse:
        """Return everything that is stored about the end user, one JSON object per line; `kind` names the table.

        The last line is `{"kind": "end"}`: without it, the answer was broken off and is not complete.
        """
        lines = export_user(project_id=self.caller.project_id, user_id=checked_name(user_id, at="user_id"))
        return StreamingHttpResponse(lines, content_type="application/jsonl")

    @operation(
        "read_user_stats",
        summary="Read numbers of an end user",
        answers={200: UserStatsSerializer},
        problems=[Code.NOT_FOUND, Code.INVALID_REQUEST],
    )
    def stats(self, request: Request, user_id: str) -> Response:
        """Count the end user's memories by status, type and agent, sessions and turns."""
        name = checked_name(user_id, at="user_id")
        users = EndUser.objects.for_project(self.caller.project_id).present()
        found = get_or_refuse(users.filter(id=end_user_id(project_id=self.caller.project_id, user_id=name)), "end user")
        return self.answer(UserStatsSerializer, {"user_id": name, **user_stats(end_user_id=found.id)})


class ErasureViewSet(ApiViewSet):
    """The receipts of erasures."""

    prefix = Prefix.ERASURE
    queryset: QuerySet[Erasure] = Erasure.objects.all()
    lookup_url_kwarg = "erasure_id"
    scopes = dict.fromkeys(("GET", "HEAD"), Scope.ADMIN)

    @operation(
        "get_erasure",
        summary="Get the receipt of an erasure",
        answers={200: ErasureSerializer},
        problems=[Code.NOT_FOUND],
    )
    def retrieve(self, request: Request, erasure_id: str) -> Response:
        """Return the status of an erasure, and how many rows of each table it has deleted."""
        return self.answer(ErasureSerializer, self.get_object())
