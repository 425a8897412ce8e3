"""Endpoints /v1/rollbacks, for keys with scope admin."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.actors import ActorSerializer
from apps.api.problems import Code
from apps.api.serializers import (
    OPTIONAL,
    ApiModelSerializer,
    ApiSerializer,
    DayEndField,
    DayStartField,
    EnumField,
    NameField,
    PageQuery,
    PublicIdField,
)
from apps.api.viewsets import ApiViewSet, operation
from apps.memories.models import Memory, Rollback
from apps.pipeline.core.enums import LeftAlone, RollbackState, Scope, Status
from apps.pipeline.core.identifiers import Prefix, with_prefixes
from apps.traces.models import Trace
from apps.tuning.rollbacks.loading import named_selection
from apps.tuning.rollbacks.planning import Kept
from apps.tuning.rollbacks.services import preview_rollback, progress_of, request_rollback, undo_rollback

MOST_FORCED = 1_000


class SelectionSerializer(ApiSerializer):
    """Which traces to take back: those that meet all conditions given, at least one.

    `trace_ids` (trc_…), `key_id` (key_…) and `replay_id` (rpl_…, the traces of a replay) are identifiers as answers
    give them; `version` is the number of a configuration version; a session is named together with its user; `since`
    is included, `until` is not.
    """

    trace_ids = serializers.ListField(child=PublicIdField(Prefix.TRACE), default=list)
    version = serializers.IntegerField(min_value=1, **OPTIONAL)
    key_id = PublicIdField(Prefix.API_KEY, source="api_key_id", **OPTIONAL)
    user_id = NameField(**OPTIONAL)
    session_id = NameField(**OPTIONAL)
    replay_id = PublicIdField(Prefix.REPLAY, **OPTIONAL)
    since = DayStartField(**OPTIONAL)
    until = DayEndField(**OPTIONAL)


@extend_schema_serializer(component_name="RollbackBody")
class NewRollbackSerializer(ApiSerializer):
    """A rollback; unless `dry_run` is false, nothing is written.

    `force` names memories that are taken back although they were edited since. With `rerun` the traces are then run
    again under the active configuration, and so are traces of which every turn was rejected.
    """

    selection = SelectionSerializer()
    dry_run = serializers.BooleanField(default=True)
    force = serializers.ListField(child=PublicIdField(Prefix.MEMORY), max_length=MOST_FORCED, default=list)
    rerun = serializers.BooleanField(default=False)
    note = serializers.CharField(max_length=255, allow_blank=True, default="")


class ChangedMemorySerializer(ApiSerializer):
    """A memory that a rollback would change: its status now and then, and the names of the fields that change."""

    memory_id = serializers.CharField(source="memory.shown_id")
    user_id = serializers.CharField(source="memory.end_user.external_id")
    content = serializers.CharField(source="memory.content")
    status = EnumField(Status, source="memory.status")
    becomes = EnumField(Status)
    fields = serializers.SerializerMethodField("changed_fields")  # type: ignore[assignment]  # no attribute of the class

    def changed_fields(self, change: Any) -> list[str]:
        """Return the names in order."""
        return sorted(change.changes)


class LeftAloneSerializer(ApiSerializer):
    """A memory that is left alone, as a whole or in part; `force` takes it back all the same if `can_be_forced`.

    With the reason `repeated`, `trace_id` names a trace instead: its turn was rejected because it repeats one that is
    taken back.
    """

    reason = EnumField(LeftAlone)
    can_be_forced = serializers.BooleanField()
    user_id = serializers.CharField()
    memory_id = serializers.CharField(allow_null=True)
    content = serializers.CharField()
    status = EnumField(Status, allow_null=True)
    trace_id = serializers.CharField(allow_null=True)

    def to_representation(self, instance: tuple[Kept, Memory | Trace]) -> dict[str, Any]:
        """Return what was left alone, and why."""
        kept, row = instance
        memory = row if isinstance(row, Memory) else None
        shown: dict[str, Any] = super().to_representation(
            {
                "reason": kept.reason,
                "can_be_forced": kept.can_be_forced,
                "user_id": row.end_user.external_id,
                "memory_id": memory.shown_id if memory else None,
                "content": memory.content if memory else "",
                "status": memory.status if memory else None,
                "trace_id": None if memory else row.shown_id,
            }
        )
        return shown


class RollbackPreviewSerializer(ApiSerializer):
    """What a rollback would do. Of many end users, counts and memories are those of the first `users_previewed`."""

    users = serializers.IntegerField()
    traces = serializers.IntegerField()
    users_previewed = serializers.IntegerField()
    counts = serializers.DictField(child=serializers.IntegerField())
    memories = ChangedMemorySerializer(many=True)
    left_alone = LeftAloneSerializer(source="kept", many=True)


@extend_schema_serializer(component_name="RollbackSummary")
class RollbackSummarySerializer(ApiModelSerializer):
    """A rollback; `counts` are known once it is done.

    After an undo, `counts` say how many traces it has restored (`undone_traces`), and how much it has left alone
    because it was changed or run again since (`undo_left_alone`).
    """

    id = serializers.CharField(source="shown_id")
    status = EnumField(RollbackState, source="state")
    selection = serializers.SerializerMethodField()
    created_by = ActorSerializer(source="actor")
    counts = serializers.DictField(child=serializers.IntegerField())
    undone_by = ActorSerializer(allow_null=True)

    class Meta:
        model = Rollback
        fields = [
            *("id", "status", "selection", "rerun", "note", "created_by", "counts", "created_at", "finished_at"),
            *("undone_by", "undone_at"),
        ]

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_selection(self, rollback: Rollback) -> Any:
        """Return the selection with identifiers as callers know them."""
        return with_prefixes(rollback.selection)


@extend_schema_serializer(component_name="RollbackResponse")
class RollbackSerializer(RollbackSummarySerializer):
    """A rollback with its progress; `left_alone` lists up to 500 memories."""

    users = serializers.IntegerField()
    users_waiting = serializers.IntegerField()
    left_alone = LeftAloneSerializer(many=True)

    class Meta(RollbackSummarySerializer.Meta):
        fields = [*RollbackSummarySerializer.Meta.fields, "users", "users_waiting", "left_alone"]

    def to_representation(self, instance: Rollback) -> dict[str, Any]:
        """Return the rollback with its progress, which is read here."""
        users, waiting, kept = progress_of(instance)
        left_alone = LeftAloneSerializer(kept, many=True).data
        shown = RollbackSummarySerializer(instance).data
        return {**shown, "users": users, "users_waiting": waiting, "left_alone": left_alone}


class RollbackViewSet(ApiViewSet):
    """The rollbacks of the project."""

    prefix = Prefix.ROLLBACK
    queryset = Rollback.objects.all()
    lookup_url_kwarg = "rollback_id"
    scopes = dict.fromkeys(("GET", "HEAD", "POST"), Scope.ADMIN)

    @operation(
        "list_rollbacks",
        summary="List rollbacks",
        query=PageQuery,
        answers={200: RollbackSummarySerializer(many=True)},
    )
    def list(self, request: Request) -> Response:
        """List rollbacks, newest first."""
        return self.answer_page(RollbackSummarySerializer, self.get_queryset())

    @operation(
        "roll_back",
        summary="Roll back traces",
        body=NewRollbackSerializer,
        answers={200: RollbackPreviewSerializer, 201: RollbackSerializer, 202: RollbackSerializer},
        problems=[Code.NOT_FOUND],
        example={"selection": {"user_id": "ana", "since": "2026-05-01T00:00:00Z"}, "dry_run": True},
        is_repeatable=True,
    )
    def create(self, request: Request) -> Response:
        """Take back what traces wrote, or preview that.

        What only these traces say is retracted, what they had superseded or merged is restored, and waiting work is
        cancelled. What was edited since, or is said elsewhere, is listed in `left_alone`. By default nothing is written
        and the response is 200; with `dry_run` false it is 201, or 202 if the rollback goes on in the background.
        """
        body = self.valid(NewRollbackSerializer)
        asked = Rollback(
            project_id=self.caller.project_id,
            selection=named_selection(project_id=self.caller.project_id, **body["selection"]),
            forced=[str(each) for each in body["force"]],
            note=body["note"],
            rerun=body["rerun"],
        )
        if body["dry_run"]:
            return self.answer(RollbackPreviewSerializer, preview_rollback(asked))
        rollback = request_rollback(asked)
        return self.answer(RollbackSerializer, rollback, status=201 if rollback.is_over else 202)

    @operation("read_rollback", summary="Read a rollback", answers={200: RollbackSerializer}, problems=[Code.NOT_FOUND])
    def retrieve(self, request: Request, rollback_id: str) -> Response:
        """Read a rollback with its progress and what it has left alone."""
        return self.answer(RollbackSerializer, self.get_object())

    @operation(
        "undo_rollback",
        summary="Undo a rollback",
        answers={200: RollbackSerializer, 202: RollbackSerializer},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
    )
    @action(methods=["post"], detail=True)
    def undo(self, request: Request, rollback_id: str) -> Response:
        """Restore what a rollback took back; what was changed since is left alone. Repeating it changes nothing."""
        rollback = undo_rollback(**self.named)
        return self.answer(RollbackSerializer, rollback, status=200 if rollback.is_over else 202)
