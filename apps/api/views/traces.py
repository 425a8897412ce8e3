"""Views of /v1/traces."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import wraps
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from apps.actions.traces.awaited_trace import AwaitedTrace
from apps.actions.traces.milestones import index_state, reached
from apps.api.openapi import documented
from apps.api.pagination import Pages
from apps.api.problems import Code
from apps.api.schemas.traces import TraceList, TraceQuery, TraceResponse, TracesQuery, trace_response, trace_summary
from apps.api.validation import not_found, read_id, read_query
from apps.api.views.base import ApiView, to_json
from apps.api.waiting import SharedPoll, release, resume
from apps.outbox import batching
from apps.outbox.wait_reasons import find_wait_reason
from apps.pipeline.core.enums import IndexState, Milestone, TraceStatus
from apps.pipeline.core.identifiers import Prefix
from apps.pipeline.core.input_validation import checked_name
from apps.traces.models import ModelCall, Span, Trace, Turn

POLL_SECONDS = 0.1


def _reached(awaited: AbstractSet[AwaitedTrace]) -> Mapping[AwaitedTrace, bool]:
    return dict.fromkeys(reached(awaited), True)


_waits = SharedPoll(_reached, interval=POLL_SECONDS)


class TracesView(ApiView):
    """The traces of the project."""

    @documented(operation="list_traces", summary="List traces", query=TracesQuery, responses={200: TraceList})
    def get(self, request: Request) -> Response:
        """List traces, newest first."""
        query = read_query(request, TracesQuery)
        rows = Trace.objects.filter(project_id=self.caller.project_id).select_related("end_user", "session")
        if (user := self.end_user_id(query.user_id)) is not None:
            rows = rows.filter(end_user_id=user)
        if query.session_id is not None:
            rows = rows.filter(session__external_id=checked_name(query.session_id, at="session_id"))
        if query.status:
            rows = rows.filter(status__in=query.status)
        pages = Pages(limit=query.limit)
        found = pages.read(rows.defer("plan", "outcomes", "metadata", "error"), request)
        return Response(to_json(TraceList(results=[trace_summary(trace) for trace in found], **pages.links())))


class TraceView(ApiView):
    """One trace. A caller may wait for it: then the request is answered again once it has come as far."""

    @classmethod
    def as_view(cls, **initkwargs: Any) -> Any:
        """Return an async view."""
        read = super().as_view(**initkwargs)

        @wraps(read)
        async def view(request: HttpRequest, trace_id: str) -> HttpResponse:
            response = await sync_to_async(read)(request, trace_id)
            awaited, seconds = getattr(response, "awaited", (None, 0))
            if awaited is None or len(_waits) >= settings.WAITING_REQUESTS:
                return response
            await release(request)
            await _waits.answer(awaited, seconds=seconds)
            await resume(request)
            request.has_waited = True  # type: ignore[attr-defined]  # of this module, and of its base class
            return await sync_to_async(read)(request, trace_id)

        return view

    @documented(
        operation="read_trace",
        summary="Read a trace",
        query=TraceQuery,
        responses={200: TraceResponse},
        problems=[Code.NOT_FOUND],
    )
    def get(self, request: Request, trace_id: str) -> Response:
        """Read what each stage did with a request; with `wait`, after it has ended or its memories are indexed."""
        query = read_query(request, TraceQuery)
        wanted = read_id(Prefix.TRACE, trace_id)
        rows = Trace.objects.filter(project_id=self.caller.project_id, id=wanted)
        trace = rows.select_related("end_user", "session").defer("plan").first()
        if trace is None:
            raise not_found()
        index = index_state(trace)
        response = Response(to_json(_with_details(trace, index=index)), headers={"X-Trace-Id": trace.shown_id})
        is_queued, is_unindexed = trace.status == TraceStatus.QUEUED, index is IndexState.PENDING
        is_late = is_queued or (is_unindexed and query.until is Milestone.INDEXED)
        if query.wait and is_late and not getattr(request, "has_waited", False):
            if is_queued:
                batching.stop_waiting(end_user_id=trace.end_user_id, session_id=trace.session_id)
            awaited = AwaitedTrace(trace_id=trace.id, milestone=query.until)
            response.awaited = (awaited, query.wait)  # type: ignore[attr-defined]  # read by as_view
        return response


def _with_details(trace: Trace, *, index: IndexState) -> TraceResponse:
    mine = {"end_user_id": trace.end_user_id, "trace_id": trace.id}
    is_queued = trace.status == TraceStatus.QUEUED
    return trace_response(
        trace,
        turns=list(Turn.objects.filter(**mine).order_by("position")),
        spans=list(Span.objects.filter(**mine).order_by("position")),
        model_calls=list(ModelCall.objects.filter(**mine).order_by("created_at")),
        waiting=find_wait_reason(end_user_id=trace.end_user_id, subject_id=trace.id) if is_queued else None,
        index=index,
    )
