"""Schemas of /v1/traces."""

from decimal import Decimal
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from apps.api.schemas.common import Identifier, Limit, Moment, QueryParameters, ResponseBody
from apps.api.schemas.turns import OutcomeResponse
from apps.outbox.wait_reasons import WaitReason
from apps.pipeline.core.enums import IndexState, Milestone, Role, SpanResult, Stage, TraceStatus
from apps.pipeline.core.identifiers import Prefix, show, with_prefixes
from apps.traces.models import ModelCall, Span, Trace, Turn

LONGEST_WAIT = 30  # seconds


class TracesQuery(QueryParameters):
    """Filters for a list of traces. `user_id` is optional for keys with scope admin."""

    user_id: Identifier | None = None
    session_id: Identifier | None = None
    status: tuple[TraceStatus, ...] = ()
    cursor: str | None = None
    limit: Limit = 50


class TraceQuery(QueryParameters):
    """With `wait`, a trace is answered when it has come as far as `until` says, or as it is after so many seconds.

    It has `ended` when its memories are stored and found by their words, and is `indexed` when they are found by their
    meaning as well. It is answered at once if too many other requests of the server wait.
    """

    wait: Annotated[int, Meta(ge=0, le=LONGEST_WAIT)] = 0
    until: Milestone = Milestone.ENDED


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


class TraceList(ResponseBody):
    """Traces, newest first."""

    next: str | None
    previous: str | None
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


def trace_summary(trace: Trace) -> TraceSummary:
    """Convert a trace for a list."""
    return TraceSummary(**_summary(trace))


def trace_response(
    trace: Trace,
    *,
    turns: list[Turn],
    spans: list[Span],
    model_calls: list[ModelCall],
    waiting: WaitReason | None,
    index: IndexState,
) -> TraceResponse:
    """Convert a trace with all its details."""
    return TraceResponse(
        **_summary(trace),
        topic=trace.topic,
        agent_id=trace.agent_scope.get("agent_id"),
        app_id=trace.agent_scope.get("app_id"),
        run_id=trace.agent_scope.get("run_id"),
        metadata=trace.metadata,
        configuration_id=show(Prefix.CONFIGURATION, trace.configuration_id),
        distributed_trace_id=trace.distributed_trace_id,
        error=trace.error,
        waiting=msgspec.convert(waiting, WaitingResponse | None, from_attributes=True),
        index=index,
        outcomes=msgspec.convert(trace.outcomes, list[OutcomeResponse]),
        turns=[_turn(turn) for turn in turns],
        spans=[_span(span) for span in spans],
        model_calls=[msgspec.convert(call, ModelCallResponse, from_attributes=True) for call in model_calls],
    )


def _summary(trace: Trace) -> dict[str, Any]:
    return {
        "id": trace.shown_id,
        "user_id": trace.end_user.external_id,
        "session_id": trace.session.external_id,
        "status": TraceStatus(trace.status),
        "rollback_id": show(Prefix.ROLLBACK, trace.rollback_id) if trace.rollback_id else None,
        "counts": trace.counts,
        "created_at": trace.created_at,
        "finished_at": trace.finished_at,
    }


def _turn(turn: Turn) -> TurnResponse:
    return TurnResponse(
        id=turn.shown_id,
        turn_id=turn.external_id,
        position=turn.position,
        role=Role(turn.role),
        speaker=turn.speaker,
        content=turn.content,
        occurred_at=turn.occurred_at,
        utc_offset=turn.utc_offset,
        received_at=turn.received_at,
        rejected_for=turn.rejected_for,
        rejected_by=turn.rejected_by,
    )


def _span(span: Span) -> SpanResponse:
    return SpanResponse(
        stage=Stage(span.stage),
        result=SpanResult(span.result),
        reason=span.reason,
        latency_us=span.latency_us,
        details=with_prefixes(span.details),
    )
