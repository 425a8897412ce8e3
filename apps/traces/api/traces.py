"""Endpoints /v1/traces."""

from functools import wraps
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from drf_spectacular.types import OpenApiTypes
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
    QuerySerializer,
)
from apps.api.viewsets import ApiViewSet, operation
from apps.api.waiting import SharedPoll, release, resume
from apps.common.rows import get_or_refuse
from apps.intake.api.turns import OutcomeSerializer
from apps.outbox import enqueue
from apps.outbox.model_pauses import find_wait_reason
from apps.pipeline.core.enums import Role, SpanResult, Stage, TraceStatus
from apps.pipeline.core.identifiers import Prefix, with_prefixes
from apps.traces.milestones import AwaitedTrace, IndexState, Milestone, index_state, reached
from apps.traces.models import ModelCall, Span, Trace, Turn

LONGEST_WAIT = 30  # seconds


class TracesQuery(PageQuery):
    """Filters for a list of traces. `user_id` is optional for keys with scope admin."""

    user_id = NameField(**OPTIONAL)
    session_id = NameField(**OPTIONAL)
    statuses = serializers.ListField(child=EnumField(TraceStatus), default=list)


class TraceQuery(QuerySerializer):
    """With `wait`, a trace is answered when it has come as far as `milestone` says, or as it is after so many seconds.

    It has `ended` when its memories are stored and found by their words, and is `indexed` when they are found by their
    meaning as well. It is answered at once if too many other requests of the server wait.
    """

    wait = serializers.IntegerField(min_value=0, max_value=LONGEST_WAIT, default=0)
    milestone = EnumField(Milestone, default=Milestone.ENDED)


@extend_schema_serializer(component_name="TraceSummary")
class TraceSummarySerializer(ApiModelSerializer):
    """One run of the write pipeline; `rollback_id` names the rollback that has taken back what it wrote."""

    id = serializers.CharField(source="shown_id")
    user_id = serializers.CharField(source="end_user.external_id")
    session_id = serializers.CharField(source="session.external_id")
    status = EnumField(TraceStatus)
    rollback_id = PublicIdField(Prefix.ROLLBACK, allow_null=True)
    counts = serializers.DictField()

    class Meta:
        model = Trace
        fields = ["id", "user_id", "session_id", "status", "rollback_id", "counts", "created_at", "finished_at"]


class TurnSerializer(ApiModelSerializer):
    """A turn. `rejected_for` is empty unless the pre-filter rejected it.

    `utc_offset` is the offset in which `occurred_at` was given, in minutes east of UTC.
    """

    id = serializers.CharField(source="shown_id")
    turn_id = serializers.CharField(source="external_id")
    role = EnumField(Role)

    class Meta:
        model = Turn
        fields = [
            *("id", "turn_id", "position", "role", "speaker", "content", "occurred_at", "utc_offset", "received_at"),
            *("rejected_for", "rejected_by"),
        ]


class SpanSerializer(ApiModelSerializer):
    """The result of one stage; `latency_us` is in microseconds."""

    stage = EnumField(Stage)
    result = EnumField(SpanResult)
    details = serializers.SerializerMethodField()

    class Meta:
        model = Span
        fields = ["stage", "result", "reason", "latency_us", "details"]

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_details(self, span: Span) -> Any:
        """Return the details with identifiers as callers know them."""
        return with_prefixes(span.details)


class ModelCallSerializer(ApiModelSerializer):
    """A model call; `latency_us` is in microseconds, `cost_usd` in US dollars."""

    answer_kind = serializers.CharField()

    class Meta:
        model = ModelCall
        fields = [
            *("purpose", "model", "prompt_version", "input_tokens", "cache_read_tokens", "cache_write_tokens"),
            *("output_tokens", "latency_us", "cost_usd", "error", "answer_kind", "invalid_objects"),
        ]


class WaitingSerializer(ApiSerializer):
    """Why a queued trace waits: for a model that does not answer, or for its next attempt."""

    reason = serializers.CharField()
    since = serializers.DateTimeField(allow_null=True)
    next_try_at = serializers.DateTimeField()


@extend_schema_serializer(component_name="TraceResponse")
class TraceSerializer(TraceSummarySerializer):
    """A trace with its turns, stages, model calls and outcomes.

    `error` is why it ended without an outcome, or why its last attempt failed; `waiting` is null unless it waits. Until
    `index` is done, search finds its memories by their words alone.
    `distributed_trace_id` is that of the request's `traceparent`, or of the server's own span.
    """

    agent_id = serializers.CharField(source="agent_scope.agent_id", default=None, allow_null=True)
    app_id = serializers.CharField(source="agent_scope.app_id", default=None, allow_null=True)
    run_id = serializers.CharField(source="agent_scope.run_id", default=None, allow_null=True)
    metadata = serializers.DictField()
    configuration_id = PublicIdField(Prefix.CONFIGURATION)
    waiting = serializers.SerializerMethodField()
    index = serializers.SerializerMethodField()
    outcomes = OutcomeSerializer(many=True)
    turns = serializers.SerializerMethodField()
    spans = serializers.SerializerMethodField()
    model_calls = serializers.SerializerMethodField()

    class Meta(TraceSummarySerializer.Meta):
        fields = [
            *TraceSummarySerializer.Meta.fields,
            *("topic", "agent_id", "app_id", "run_id", "metadata", "configuration_id", "distributed_trace_id", "error"),
            *("waiting", "index", "outcomes", "turns", "spans", "model_calls"),
        ]

    @extend_schema_field(WaitingSerializer(allow_null=True))
    def get_waiting(self, trace: Trace) -> Any:
        """Return why it waits, None unless it does."""
        if trace.status != TraceStatus.QUEUED:
            return None
        waiting = find_wait_reason(end_user_id=trace.end_user_id, subject_id=trace.id)
        return waiting and WaitingSerializer(waiting).data

    @extend_schema_field(EnumField(IndexState))
    def get_index(self, trace: Trace) -> IndexState:
        """Return the state of the index, which the view has read."""
        index: IndexState = self.context["index"]
        return index

    @extend_schema_field(TurnSerializer(many=True))
    def get_turns(self, trace: Trace) -> Any:
        """Return the turns in order."""
        return TurnSerializer(_of(trace, Turn.objects.order_by("position")), many=True).data

    @extend_schema_field(SpanSerializer(many=True))
    def get_spans(self, trace: Trace) -> Any:
        """Return what each stage did, in order."""
        return SpanSerializer(_of(trace, Span.objects.order_by("position")), many=True).data

    @extend_schema_field(ModelCallSerializer(many=True))
    def get_model_calls(self, trace: Trace) -> Any:
        """Return the calls of models in order."""
        return ModelCallSerializer(_of(trace, ModelCall.objects.order_by("created_at", "id")), many=True).data


def _of(trace: Trace, rows: QuerySet[Any]) -> QuerySet[Any]:
    return rows.filter(end_user_id=trace.end_user_id, trace_id=trace.id)


POLL_SECONDS = 0.1
_waits: SharedPoll[AwaitedTrace, bool] = SharedPoll(
    lambda awaited: dict.fromkeys(reached(awaited), True), interval=POLL_SECONDS
)


class TraceViewSet(ApiViewSet):
    """The traces of the project. A caller may wait for one: the request is answered again once it has come as far."""

    prefix = Prefix.TRACE
    queryset = Trace.objects.select_related("end_user", "session")
    lookup_url_kwarg = "trace_id"

    @classmethod
    def as_view(cls, *args: Any, **initkwargs: Any) -> Any:
        """Return an async view."""
        read = super().as_view(*args, **initkwargs)

        @wraps(read)
        async def view(request: HttpRequest, **path: str) -> HttpResponse:
            response = await sync_to_async(read)(request, **path)
            awaited, seconds = getattr(response, "awaited", (None, 0))
            if awaited is None or len(_waits) >= settings.WAITING_REQUESTS:
                return response
            await release(request)
            await _waits.answer(awaited, seconds=seconds)
            await resume(request)
            request.has_waited = True  # type: ignore[attr-defined]  # of this module, and of its base class
            return await sync_to_async(read)(request, **path)

        return view

    @operation(
        "list_traces", summary="List traces", query=TracesQuery, answers={200: TraceSummarySerializer(many=True)}
    )
    def list(self, request: Request) -> Response:
        """List traces, newest first."""
        rows = self.get_queryset()
        if (user := self.end_user_id(self.query["user_id"])) is not None:
            rows = rows.filter(end_user_id=user)
        if self.query["session_id"] is not None:
            rows = rows.filter(session__external_id=self.query["session_id"])
        if self.query["statuses"]:
            rows = rows.filter(status__in=self.query["statuses"])
        return self.answer_page(TraceSummarySerializer, rows.defer("plan", "outcomes", "metadata", "error"))

    @operation(
        "read_trace",
        summary="Read a trace",
        query=TraceQuery,
        answers={200: TraceSerializer},
        problems=[Code.NOT_FOUND],
    )
    def retrieve(self, request: Request, trace_id: str) -> Response:
        """Read what each stage did with a request; with `wait`, after it has ended or its memories are indexed."""
        trace = get_or_refuse(self.get_queryset().filter(pk=self.row_id).defer("plan"), "trace")
        is_queued, index = trace.status == TraceStatus.QUEUED, index_state(trace)
        shown = TraceSerializer(trace, context={"index": index}).data
        response = Response(shown, headers={"X-Trace-Id": trace.shown_id})
        is_late = is_queued or (index is IndexState.PENDING and self.query["milestone"] is Milestone.INDEXED)
        if self.query["wait"] and is_late and not getattr(request, "has_waited", False):
            if is_queued:
                enqueue.stop_waiting(end_user_id=trace.end_user_id, session_id=trace.session_id)
            awaited = AwaitedTrace(trace_id=trace.id, milestone=self.query["milestone"])
            response.awaited = (awaited, self.query["wait"])  # type: ignore[attr-defined]  # read by as_view
        return response
