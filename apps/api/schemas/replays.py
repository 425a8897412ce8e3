"""Schemas of /v1/replays."""

from typing import Annotated, Any

from msgspec import Meta

from apps.actions.replays.differences import shown_difference
from apps.api.schemas.common import (
    DayEnd,
    DayStart,
    Identifier,
    Limit,
    Moment,
    QueryParameters,
    RequestBody,
    ResponseBody,
)
from apps.pipeline.core.identifiers import Prefix, show
from apps.traces.models import Replay, ReplayedState, ReplayedTrace, ReplayState

MOST_IDS = 1_000


class ReplayTracesBody(RequestBody):
    """Which ended traces are replayed: all filters have to fit, and a sample is drawn of what is left.

    `trace_ids` are identifiers of traces (trc_…); a session is named together with its user.
    """

    user_id: Identifier | None = None
    session_id: Identifier | None = None
    since: DayStart | None = None
    until: DayEnd | None = None
    trace_ids: Annotated[tuple[str, ...], Meta(max_length=MOST_IDS)] = ()
    sample: Annotated[int, Meta(ge=1)] | None = None


class ReplayBody(RequestBody):
    """Traces, and the configuration version under which they run again; null: each under its own.

    With `isolated` each trace starts from the state as it was before it, not from what the replay would have written.
    With `live_calls` the model is asked where a prompt has no recorded answer.
    """

    version: Annotated[int, Meta(ge=1)] | None = None
    traces: ReplayTracesBody = ReplayTracesBody()
    isolated: bool = False
    live_calls: bool = False


class ReplayedTracesQuery(QueryParameters):
    """Filter and paging of the traces of a replay."""

    state: tuple[ReplayedState, ...] = ()
    cursor: str | None = None
    limit: Limit = 50


class ReplayResponse(ResponseBody):
    """A replay with its estimate and its sums; differences are counted, and given by trace."""

    id: str
    state: ReplayState
    version: int | None
    isolated: bool
    live_calls: bool
    traces: dict[str, Any]
    estimate: dict[str, Any]
    traces_total: int
    traces_done: int
    totals: dict[str, Any]
    error: str
    created_at: Moment
    started_at: Moment | None
    finished_at: Moment | None


class ReplayList(ResponseBody):
    """Replays, newest first."""

    next: str | None
    previous: str | None
    results: list[ReplayResponse]


class ReplayedTraceResponse(ResponseBody):
    """One trace of a replay: `diff` is empty if it ended as it was recorded."""

    user_id: str
    trace_id: str
    state: ReplayedState
    diff: dict[str, Any]
    totals: dict[str, Any]
    error: str


class ReplayedTraceList(ResponseBody):
    """Traces of a replay."""

    next: str | None
    previous: str | None
    results: list[ReplayedTraceResponse]


def replay_response(replay: Replay) -> ReplayResponse:
    """Convert a replay."""
    return ReplayResponse(
        id=replay.shown_id,
        state=ReplayState(replay.state),
        version=replay.configuration.number if replay.configuration else None,
        isolated=replay.is_isolated,
        live_calls=replay.allows_live_calls,
        traces={name: value for name, value in replay.choice.items() if name != "end_user"},
        estimate=replay.estimate,
        traces_total=replay.traces_total,
        traces_done=replay.traces_done,
        totals=replay.totals,
        error=replay.error,
        created_at=replay.created_at,
        started_at=replay.started_at,
        finished_at=replay.finished_at,
    )


def replayed_trace_response(row: ReplayedTrace) -> ReplayedTraceResponse:
    """Convert one trace of a replay."""
    return ReplayedTraceResponse(
        user_id=row.end_user.external_id,
        trace_id=show(Prefix.TRACE, row.trace_id),
        state=ReplayedState(row.state),
        diff=shown_difference(row.diff),
        totals=row.totals,
        error=row.error,
    )
