"""Views of /v1/traces."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from functools import wraps
from typing import Annotated, Any

import msgspec
from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.base import ApiView, to_json
from apps.api.operations import operation
from apps.api.pagination import Pages
from apps.api.problems import Code
from apps.api.schemas import Identifier, Limit, Moment, PageBody, QueryParameters, ResponseBody, response_of
from apps.api.validation import read_id
from apps.api.waiting import SharedPoll, release, resume
from apps.common.rows import get_or_refuse
from apps.intake.api.turns import OutcomeResponse
from apps.outbox import enqueue
from apps.outbox.model_pauses import find_wait_reason
from apps.pipeline.core.enums import Role, SpanResult, Stage, TraceStatus
from apps.pipeline.core.identifiers import Prefix, show, with_prefixes
from apps.pipeline.core.input_validation import checked_name
from apps.traces.milestones import AwaitedTrace, IndexState, Milestone, index_state, reached
from apps.traces.models import ModelCall, Span, Trace, Turn

LONGEST_WAIT = 30  # seconds


class TracesQuery(QueryParameters):
    """Filters for a list of traces. `user_id` is optional for keys with scope admin."""

    user_id: Identifier | None = None
    session_id: Identifier | None = None
    statuses: tuple[TraceStatus, ...] = ()
    cursor: str | None = None
    limit: Limit = 50


class TraceQuery(QueryParameters):
    """With `wait`, a trace is answered when it has come as far as `milestone` says, or as it is after so many seconds.

    It has `ended` when its memories are stored and found by their words, and is `indexed` when they are found by their
    meaning as well. It is answered at once if too many other requests of the server wait.
    """

    wait: Annotated[int, Meta(ge=0, le=LONGEST_WAIT)] = 0
    milestone: Milestone = Milestone.ENDED


class TraceSummary(ResponseBody):
    """One run of the write pipeline; `rollback_id` names the rollback that has taken back what it wrote."""

    id: str
    user_id: str
    session_id: str
    status: TraceStatus
    rollback_id: str | None
    counts: dict[str, Any]
    created_at: Moment
    finished_at: Moment | None


class TraceList(PageBody):
    """Traces, newest first."""

    results: list[TraceSummary]


class TurnResponse(ResponseBody):
    """A turn. `rejected_for` is empty unless the pre-filter rejected it.

    `utc_offset` is the offset in which `occurred_at` was given, in minutes east of UTC.
    """

    id: str
    turn_id: str
    position: int
    role: Role
    speaker: str
    content: str
    occurred_at: Moment | None
    utc_offset: int
    received_at: Moment
    rejected_for: str
    rejected_by: str


class SpanResponse(ResponseBody):
    """The result of one stage; `latency_us` is in microseconds."""

    stage: Stage
    result: SpanResult
    reason: str
    latency_us: int
    details: dict[str, Any]


class ModelCallResponse(ResponseBody):
    """A model call; `latency_us` is in microseconds, `cost_usd` in US dollars."""

    purpose: str
    model: str
    prompt_version: str
    input_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    output_tokens: int
    latency_us: int
    cost_usd: Decimal
    error: str
    answer_kind: str
    invalid_objects: int


class WaitingResponse(ResponseBody):
    """Why a queued trace waits: for a model that does not answer, or for its next attempt."""

    reason: str
    since: Moment | None
    next_try_at: Moment


class TraceResponse(TraceSummary):
    """A trace with its turns, stages, model calls and outcomes.

    `error` is why it ended without an outcome, or why its last attempt failed; `waiting` is null unless it waits. Until
    `index` is done, search finds its memories by their words alone.
    `distributed_trace_id` is that of the request's `traceparent`, or of the server's own span.
    """

    topic: str
    agent_id: str | None
    app_id: str | None
    run_id: str | None
    metadata: dict[str, Any]
    configuration_id: str
    distributed_trace_id: str
    error: str
    waiting: WaitingResponse | None
    index: IndexState
    outcomes: list[OutcomeResponse]
    turns: list[TurnResponse]
    spans: list[SpanResponse]
    model_calls: list[ModelCallResponse]


POLL_SECONDS = 0.1


def _reached(awaited: AbstractSet[AwaitedTrace]) -> Mapping[AwaitedTrace, bool]:
    return dict.fromkeys(reached(awaited), True)


_waits = SharedPoll(_reached, interval=POLL_SECONDS)


class TracesView(ApiView):
    """The traces of the project."""

    @operation("list_traces", summary="List traces")
    def get(self, request: Request, query: TracesQuery) -> TraceList:
        """List traces, newest first."""
        rows = Trace.objects.filter(project_id=self.caller.project_id).select_related("end_user", "session")
        if (user := self.end_user_id(query.user_id)) is not None:
            rows = rows.filter(end_user_id=user)
        if query.session_id is not None:
            rows = rows.filter(session__external_id=checked_name(query.session_id, at="session_id"))
        if query.statuses:
            rows = rows.filter(status__in=query.statuses)
        pages = Pages(limit=query.limit)
        found = pages.read(rows.defer("plan", "outcomes", "metadata", "error"), request)
        return TraceList(results=[response_of(TraceSummary, each, **_ids(each)) for each in found], **pages.links())


class TraceView(ApiView):
    """One trace. A caller may wait for it: then the request is answered again once it has come as far."""

    @classmethod
    def as_view(cls, **initkwargs: Any) -> Any:
        """Return an async view."""
        read = super().as_view(**initkwargs)

        @wraps(read)
        async def view(request: HttpRequest, trace_id: str) -> HttpResponse:
            response = await sync_to_async(read)(request, trace_id=trace_id)
            awaited, seconds = getattr(response, "awaited", (None, 0))
            if awaited is None or len(_waits) >= settings.WAITING_REQUESTS:
                return response
            await release(request)
            await _waits.answer(awaited, seconds=seconds)
            await resume(request)
            request.has_waited = True  # type: ignore[attr-defined]  # of this module, and of its base class
            return await sync_to_async(read)(request, trace_id=trace_id)

        return view

    @operation("read_trace", summary="Read a trace", responses={200: TraceResponse}, problems=[Code.NOT_FOUND])
    def get(self, request: Request, trace_id: str, query: TraceQuery) -> Response:
        """Read what each stage did with a request; with `wait`, after it has ended or its memories are indexed."""
        wanted = read_id(Prefix.TRACE, trace_id)
        rows = Trace.objects.filter(project_id=self.caller.project_id, id=wanted)
        trace = get_or_refuse(rows.select_related("end_user", "session").defer("plan"), "trace")
        index = index_state(trace)
        response = Response(to_json(_with_details(trace, index=index)), headers={"X-Trace-Id": trace.shown_id})
        is_queued, is_unindexed = trace.status == TraceStatus.QUEUED, index is IndexState.PENDING
        is_late = is_queued or (is_unindexed and query.milestone is Milestone.INDEXED)
        if query.wait and is_late and not getattr(request, "has_waited", False):
            if is_queued:
                enqueue.stop_waiting(end_user_id=trace.end_user_id, session_id=trace.session_id)
            awaited = AwaitedTrace(trace_id=trace.id, milestone=query.milestone)
            response.awaited = (awaited, query.wait)  # type: ignore[attr-defined]  # read by as_view
        return response


def _ids(trace: Trace) -> dict[str, Any]:
    return {
        "id": trace.shown_id,
        "user_id": trace.end_user.external_id,
        "session_id": trace.session.external_id,
        "rollback_id": show(Prefix.ROLLBACK, trace.rollback_id) if trace.rollback_id else None,
    }


def _with_details(trace: Trace, *, index: IndexState) -> TraceResponse:
    mine = {"end_user_id": trace.end_user_id, "trace_id": trace.id}
    turns = Turn.objects.filter(**mine).order_by("position")
    spans = Span.objects.filter(**mine).order_by("position")
    calls = ModelCall.objects.filter(**mine).order_by("created_at", "id")
    is_queued = trace.status == TraceStatus.QUEUED
    waiting = find_wait_reason(end_user_id=trace.end_user_id, subject_id=trace.id) if is_queued else None
    return response_of(
        TraceResponse,
        trace,
        **_ids(trace),
        **{name: trace.agent_scope.get(name) for name in ("agent_id", "app_id", "run_id")},
        configuration_id=show(Prefix.CONFIGURATION, trace.configuration_id),
        waiting=response_of(WaitingResponse, waiting) if waiting else None,
        index=index,
        turns=[response_of(TurnResponse, turn, id=turn.shown_id, turn_id=turn.external_id) for turn in turns],
        spans=[response_of(SpanResponse, span, details=with_prefixes(span.details)) for span in spans],
        model_calls=[response_of(ModelCallResponse, call) for call in calls],
        outcomes=msgspec.convert(trace.outcomes, list[OutcomeResponse]),
    )
