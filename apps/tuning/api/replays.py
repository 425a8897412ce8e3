"""Views of /v1/replays, for keys with scope admin."""

from typing import Annotated, Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from msgspec import Meta
from rest_framework.request import Request

from apps.api.operations import operation
from apps.api.problems import Code
from apps.api.schemas import (
    DayEnd,
    DayStart,
    Identifier,
    Moment,
    PageBody,
    PageQuery,
    RequestBody,
    ResponseBody,
    response_of,
)
from apps.api.validation import read_id, read_ids
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.input_validation import checked_name
from apps.traces.models import Replay, ReplayedState, ReplayedTrace, ReplayState
from apps.tuning.api.admin_view import AdminView
from apps.tuning.replays.differences import shown_difference
from apps.tuning.replays.services import (
    EXPORTS,
    TraceChoice,
    cancel_replay,
    export_replay,
    find_replay,
    request_replay,
    start_replay,
)

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


class ReplayedTracesQuery(PageQuery):
    """Filter and paging of the traces of a replay."""

    statuses: tuple[ReplayedState, ...] = ()


class ReplayResponse(ResponseBody):
    """A replay with its estimate and its sums; differences are counted, and given by trace."""

    id: str
    status: ReplayState
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


class ReplayList(PageBody):
    """Replays, newest first."""

    results: list[ReplayResponse]


class ReplayedTraceResponse(ResponseBody):
    """One trace of a replay: `diff` is empty if it ended as it was recorded."""

    user_id: str
    trace_id: str
    status: ReplayedState
    diff: dict[str, Any]
    totals: dict[str, Any]
    error: str


class ReplayedTraceList(PageBody):
    """Traces of a replay."""

    results: list[ReplayedTraceResponse]


def replay_response(replay: Replay) -> ReplayResponse:
    """Convert a replay."""
    return response_of(
        ReplayResponse,
        replay,
        id=replay.shown_id,
        status=ReplayState(replay.state),
        version=replay.configuration.number if replay.configuration else None,
        isolated=replay.is_isolated,
        live_calls=replay.allows_live_calls,
        traces={name: value for name, value in replay.choice.items() if name != "end_user"},
    )


def replayed_trace_response(row: ReplayedTrace) -> ReplayedTraceResponse:
    """Convert one trace of a replay."""
    return ReplayedTraceResponse(
        user_id=row.end_user.external_id,
        trace_id=show(Prefix.TRACE, row.trace_id),
        status=ReplayedState(row.state),
        diff=shown_difference(row.diff),
        totals=row.totals,
        error=row.error,
    )


class ReplaysView(AdminView):
    """The replays of the project."""

    @operation("list_replays", summary="List replays")
    def get(self, request: Request, query: PageQuery) -> ReplayList:
        """List replays, newest first."""
        return self.page(
            ReplayList,
            Replay.objects.filter(project_id=self.caller.project_id).select_related("configuration"),
            replay_response,
            limit=query.limit,
        )

    @operation(
        "request_replay",
        summary="Request a replay",
        status=201,
        problems=[Code.NOT_FOUND],
        example={"version": 3, "traces": {"user_id": "kim", "since": "2026-01-01"}},
        repeatable=True,
    )
    def post(self, request: Request, body: ReplayBody) -> ReplayResponse:
        """Choose traces and estimate the model calls, tokens and costs; `start` then runs it.

        Nothing is written to memories. Traces that shared model calls are replayed together.
        """
        traces = body.traces
        replay = request_replay(
            project_id=self.caller.project_id,
            choice=TraceChoice(
                user_id=checked_name(traces.user_id, at="/traces/user_id") if traces.user_id else "",
                session_id=checked_name(traces.session_id, at="/traces/session_id") if traces.session_id else "",
                since=traces.since,
                until=traces.until,
                trace_ids=tuple(read_ids(Prefix.TRACE, traces.trace_ids, at="/traces/trace_ids")),
                sample=traces.sample,
            ),
            version=body.version,
            is_isolated=body.isolated,
            allows_live_calls=body.live_calls,
            api_key_id=self.caller.api_key_id,
        )
        return replay_response(replay)


class ReplayView(AdminView):
    """One replay."""

    @operation("read_replay", summary="Read a replay", problems=[Code.NOT_FOUND])
    def get(self, request: Request, replay_id: str) -> ReplayResponse:
        """Read the progress of a replay and the sums of the differences so far."""
        return replay_response(_found(self, replay_id))


class ReplayStartView(AdminView):
    """Starting and resuming a replay."""

    @operation("start_replay", summary="Start or resume a replay", problems=[Code.NOT_FOUND, Code.CONFLICT])
    def post(self, request: Request, replay_id: str) -> ReplayResponse:
        """Confirm the estimate and run the replay; one that was cancelled or has failed goes on where it was.

        A replay of up to 50 traces is done when the answer arrives, larger ones run in the background.
        """
        wanted = read_id(Prefix.REPLAY, replay_id)
        return replay_response(start_replay(project_id=self.caller.project_id, replay_id=wanted))


class ReplayCancelView(AdminView):
    """Cancelling a replay."""

    @operation("cancel_replay", summary="Cancel a replay", problems=[Code.NOT_FOUND, Code.CONFLICT])
    def post(self, request: Request, replay_id: str) -> ReplayResponse:
        """Stop a replay; what it has found stays. Repeating it changes nothing."""
        wanted = read_id(Prefix.REPLAY, replay_id)
        return replay_response(cancel_replay(project_id=self.caller.project_id, replay_id=wanted))


class ReplayedTracesView(AdminView):
    """The traces of a replay."""

    @operation("list_replayed_traces", summary="List the traces of a replay", problems=[Code.NOT_FOUND])
    def get(self, request: Request, replay_id: str, query: ReplayedTracesQuery) -> ReplayedTraceList:
        """List what became of each trace, with its differences."""
        rows = ReplayedTrace.objects.filter(replay=_found(self, replay_id)).select_related("end_user")
        if query.statuses:
            rows = rows.filter(state__in=query.statuses)
        return self.page(ReplayedTraceList, rows, replayed_trace_response, limit=query.limit, ordering="id")


class ReplayJsonView(AdminView):
    """The result of a replay as JSON."""

    @operation(
        "export_replay_json",
        summary="Export a replay as JSON",
        responses={(200, "application/json"): {"type": "array", "items": {"type": "object"}}},
        problems=[Code.NOT_FOUND],
    )
    def get(self, request: Request, replay_id: str) -> StreamingHttpResponse:
        """Return an array of the traces that did not end as they were recorded."""
        return _export(self, replay_id, "json")


class ReplayCsvView(AdminView):
    """The result of a replay as CSV."""

    @operation(
        "export_replay_csv",
        summary="Export a replay as CSV",
        responses={(200, "text/csv"): OpenApiTypes.STR},
        problems=[Code.NOT_FOUND],
    )
    def get(self, request: Request, replay_id: str) -> StreamingHttpResponse:
        """Return one line for each difference."""
        return _export(self, replay_id, "csv")


def _export(view: AdminView, replay_id: str, kind: str) -> StreamingHttpResponse:
    return StreamingHttpResponse(export_replay(_found(view, replay_id), kind), content_type=EXPORTS[kind])


def _found(view: AdminView, replay_id: str) -> Replay:
    return find_replay(project_id=view.caller.project_id, replay_id=read_id(Prefix.REPLAY, replay_id))
