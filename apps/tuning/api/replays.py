"""Endpoints /v1/replays, for keys with scope admin."""

from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

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
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix
from apps.traces.models import Replay, ReplayedState, ReplayedTrace, ReplayState
from apps.tuning.replays.differences import shown_difference
from apps.tuning.replays.services import (
    EXPORTS,
    TraceChoice,
    cancel_replay,
    export_replay,
    request_replay,
    start_replay,
)

MOST_IDS = 1_000


class ReplayTracesSerializer(ApiSerializer):
    """Which ended traces are replayed: all filters have to fit, and a sample is drawn of what is left.

    `trace_ids` are identifiers of traces (trc_…); a session is named together with its user.
    """

    user_id = NameField(**OPTIONAL)
    session_id = NameField(**OPTIONAL)
    since = DayStartField(**OPTIONAL)
    until = DayEndField(**OPTIONAL)
    trace_ids = serializers.ListField(child=PublicIdField(Prefix.TRACE), max_length=MOST_IDS, default=list)
    sample = serializers.IntegerField(min_value=1, **OPTIONAL)


@extend_schema_serializer(component_name="ReplayBody")
class NewReplaySerializer(ApiSerializer):
    """Traces, and the configuration version under which they run again; null: each under its own.

    With `isolated` each trace starts from the state as it was before it, not from what the replay would have written.
    With `live_calls` the model is asked where a prompt has no recorded answer.
    """

    version = serializers.IntegerField(min_value=1, **OPTIONAL)
    traces = ReplayTracesSerializer(required=False)
    isolated = serializers.BooleanField(default=False)
    live_calls = serializers.BooleanField(default=False)


class ReplayedTracesQuery(PageQuery):
    """Filter and paging of the traces of a replay."""

    statuses = serializers.ListField(child=EnumField(ReplayedState), default=list)


class ReplaySerializer(ApiModelSerializer):
    """A replay with its estimate and its sums; differences are counted, and given by trace."""

    id = serializers.CharField(source="shown_id")
    status = EnumField(ReplayState, source="state")
    version = serializers.IntegerField(source="configuration.number", allow_null=True, default=None)
    isolated = serializers.BooleanField(source="is_isolated")
    live_calls = serializers.BooleanField(source="allows_live_calls")
    traces = serializers.SerializerMethodField()
    estimate = serializers.DictField()
    totals = serializers.DictField()

    class Meta:
        model = Replay
        fields = [
            *("id", "status", "version", "isolated", "live_calls", "traces", "estimate", "traces_total"),
            *("traces_done", "totals", "error", "created_at", "started_at", "finished_at"),
        ]

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_traces(self, replay: Replay) -> dict[str, Any]:
        """Return the filters as they were sent."""
        return {name: value for name, value in replay.choice.items() if name != "end_user"}


class ReplayedTraceSerializer(ApiModelSerializer):
    """One trace of a replay: `diff` is empty if it ended as it was recorded."""

    user_id = serializers.CharField(source="end_user.external_id")
    trace_id = PublicIdField(Prefix.TRACE)
    status = EnumField(ReplayedState, source="state")
    diff = serializers.SerializerMethodField()
    totals = serializers.DictField()

    class Meta:
        model = ReplayedTrace
        fields = ["user_id", "trace_id", "status", "diff", "totals", "error"]

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_diff(self, row: ReplayedTrace) -> Any:
        """Return the difference with identifiers as callers know them."""
        return shown_difference(row.diff)


class ReplayViewSet(ApiViewSet):
    """The replays of the project."""

    prefix = Prefix.REPLAY
    queryset = Replay.objects.select_related("configuration")
    lookup_url_kwarg = "replay_id"
    scopes = dict.fromkeys(("GET", "HEAD", "POST"), Scope.ADMIN)

    @operation("list_replays", summary="List replays", query=PageQuery, answers={200: ReplaySerializer(many=True)})
    def list(self, request: Request) -> Response:
        """List replays, newest first."""
        return self.answer_page(ReplaySerializer, self.get_queryset())

    @operation(
        "request_replay",
        summary="Request a replay",
        body=NewReplaySerializer,
        answers={201: ReplaySerializer},
        problems=[Code.NOT_FOUND],
        example={"version": 3, "traces": {"user_id": "kim", "since": "2026-01-01"}},
        is_repeatable=True,
    )
    def create(self, request: Request) -> Response:
        """Choose traces and estimate the model calls, tokens and costs; `start` then runs it.

        Nothing is written to memories. Traces that shared model calls are replayed together.
        """
        body = self.valid(NewReplaySerializer)
        replay = request_replay(
            project_id=self.caller.project_id,
            choice=TraceChoice(**body.get("traces", {})),
            version=body["version"],
            is_isolated=body["isolated"],
            allows_live_calls=body["live_calls"],
            api_key_id=self.caller.api_key_id,
        )
        return self.answer(ReplaySerializer, replay, status=201)

    @operation("read_replay", summary="Read a replay", answers={200: ReplaySerializer}, problems=[Code.NOT_FOUND])
    def retrieve(self, request: Request, replay_id: str) -> Response:
        """Read the progress of a replay and the sums of the differences so far."""
        return self.answer(ReplaySerializer, self.get_object())

    @operation(
        "start_replay",
        summary="Start or resume a replay",
        answers={200: ReplaySerializer},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
    )
    @action(methods=["post"], detail=True)
    def start(self, request: Request, replay_id: str) -> Response:
        """Confirm the estimate and run the replay; one that was cancelled or has failed goes on where it was.

        A replay of up to 50 traces is done when the answer arrives, larger ones run in the background.
        """
        return self.answer(ReplaySerializer, start_replay(**self.named))

    @operation(
        "cancel_replay",
        summary="Cancel a replay",
        answers={200: ReplaySerializer},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
    )
    @action(methods=["post"], detail=True)
    def cancel(self, request: Request, replay_id: str) -> Response:
        """Stop a replay; what it has found stays. Repeating it changes nothing."""
        return self.answer(ReplaySerializer, cancel_replay(**self.named))

    @operation(
        "list_replayed_traces",
        summary="List the traces of a replay",
        query=ReplayedTracesQuery,
        answers={200: ReplayedTraceSerializer(many=True)},
        problems=[Code.NOT_FOUND],
    )
    @action(detail=True)
    def traces(self, request: Request, replay_id: str) -> Response:
        """List what became of each trace, with its differences."""
        rows = ReplayedTrace.objects.filter(replay=self.get_object()).select_related("end_user")
        if self.query["statuses"]:
            rows = rows.filter(state__in=self.query["statuses"])
        return self.answer_page(ReplayedTraceSerializer, rows, ordering="id")

    @operation(
        "export_replay_json",
        summary="Export a replay as JSON",
        answers={(200, "application/json"): {"type": "array", "items": {"type": "object"}}},
        problems=[Code.NOT_FOUND],
    )
    @action(detail=True, url_path="changes.json", url_name="json")
    def as_json(self, request: Request, replay_id: str) -> StreamingHttpResponse:
        """Return an array of the traces that did not end as they were recorded."""
        return StreamingHttpResponse(export_replay(self.get_object(), "json"), content_type=EXPORTS["json"])

    @operation(
        "export_replay_csv",
        summary="Export a replay as CSV",
        answers={(200, "text/csv"): OpenApiTypes.STR},
        problems=[Code.NOT_FOUND],
    )
    @action(detail=True, url_path="changes.csv", url_name="csv")
    def as_csv(self, request: Request, replay_id: str) -> StreamingHttpResponse:
        """Return one line for each difference."""
        return StreamingHttpResponse(export_replay(self.get_object(), "csv"), content_type=EXPORTS["csv"])
