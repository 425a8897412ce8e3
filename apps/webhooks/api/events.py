"""Views of /v1/events: read events on from a number, or follow them as a stream."""

import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import wraps
from typing import Annotated, Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from msgspec import Meta
from rest_framework.request import Request

from apps.api.base import ApiView
from apps.api.operations import operation
from apps.api.parsers import NoNegotiation
from apps.api.problems import Code, Problem, invalid
from apps.api.schemas import Limit, Moment, QueryParameters, RequestBody, ResponseBody
from apps.api.waiting import SharedPoll, release
from apps.common.errors import Conflict
from apps.events.enums import EventType
from apps.events.models import EventLog
from apps.pipeline.core.enums import Scope
from apps.webhooks.services import EventPosition, read_on, read_streams, set_event_log

EventNumber = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class EventStreamQuery(QueryParameters):
    """Which events to follow; without `after` and `Last-Event-ID` those that happen from now on."""

    after: EventNumber | None = None
    types: tuple[EventType, ...] = ()
    includes_content: bool = False


class EventsQuery(EventStreamQuery):
    """Which events to read: those with a higher number than `after`, of some types or, without `types`, of all."""

    after: EventNumber = 0
    limit: Limit = 100


class EventResponse(ResponseBody):
    """An event. `id` is the same in every delivery of it; `number` counts the events of the project from 1.

    `data` holds identifiers, states and numbers; with `includes_content` also the sentence of a memory that is active
    and told to all agents.
    """

    id: str
    number: int
    type: EventType
    timestamp: Moment
    data: dict[str, Any]


class EventList(ResponseBody):
    """Events, oldest first. Read on with `after` = `next_after`; `last_number` is that of the project's last event."""

    results: list[EventResponse]
    next_after: int
    last_number: int


class EventLogBody(RequestBody):
    """Whether the events of the project are recorded."""

    is_on: bool


class EventLogResponse(ResponseBody):
    """Whether the events of the project are recorded, and the number of the last one."""

    is_on: bool
    last_number: int


EVENT_STREAM = "text/event-stream"
POLL_SECONDS = 0.25
HEARTBEAT_SECONDS = 15.0
HEARTBEAT = b": still here\n\n"
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # proxies must pass each event on at once

_news = SharedPoll(read_streams, interval=POLL_SECONDS)
_open: Counter[UUID] = Counter()  # streams of this process, by project
_is_ending = False


def end_streams() -> None:
    """End all streams, for which the server would wait; their callers connect to another process."""
    global _is_ending
    _is_ending = True
    _news.end_all()


class EventsView(ApiView):
    """The events of the project, for keys with scope admin: they name every end user."""

    scopes = {"GET": Scope.ADMIN, "HEAD": Scope.ADMIN}

    @operation("list_events", summary="List events", problems=[Code.CONFLICT])
    def get(self, request: Request, query: EventsQuery) -> EventList:
        """Read events on from a number, oldest first (scope admin). 409 if the project records none."""
        log = self.recorded()
        position = EventPosition(log.project_id, query.after, query.types, query.includes_content)
        messages, reached = read_on(position, limit=query.limit, last=log.last_number)
        results = [EventResponse(**each) for each in messages]
        return EventList(results=results, next_after=reached, last_number=log.last_number)

    def recorded(self) -> EventLog:
        """Return the log of the caller's project. Raises Conflict if its events are not recorded."""
        log = EventLog.objects.filter(project_id=self.caller.project_id, is_on=True).first()
        if log is None:
            raise Conflict("the events of the project are not recorded: an admin switches them on at /v1/events/log")
        return log


class EventStreamView(EventsView):
    """The events of the project as a stream of server-sent events."""

    @classmethod
    def as_view(cls, **initkwargs: Any) -> Any:
        """Return an async view."""
        begin = super().as_view(**initkwargs)

        @wraps(begin)
        async def view(request: HttpRequest) -> HttpResponseBase:
            response: HttpResponseBase = await sync_to_async(begin)(request)
            if response.streaming:
                await release(request)
            return response

        return view

    http_method_names = ["get", "options"]
    content_negotiation_class = NoNegotiation  # browsers and clients ask for a stream of events

    @operation(
        "follow_events",
        summary="Follow events",
        responses={(200, EVENT_STREAM): OpenApiTypes.STR},
        problems=[Code.CONFLICT, Code.RATE_LIMITED],
    )
    def get(self, request: Request, query: EventStreamQuery) -> StreamingHttpResponse:
        """Send events as they happen (scope admin), with their number as `id`, which a caller that comes again sends as
        `Last-Event-ID`.

        The stream ends after some minutes, and the caller connects again. 409 if the project records none.
        """
        log = self.recorded()
        after = _last_event_id(request)
        if after is None:
            after = log.last_number if query.after is None else query.after
        position = EventPosition(log.project_id, after, query.types, query.includes_content)
        if _open[log.project_id] >= settings.EVENT_STREAMS_PER_PROJECT or _open.total() >= settings.WAITING_REQUESTS:
            raise Problem(Code.RATE_LIMITED, "as many streams of events are open as may be; read /v1/events")
        part, reached = read_streams({position}).get(position, (b"", after))
        followed = _events(replace(position, after=reached), part)
        return StreamingHttpResponse(followed, content_type=EVENT_STREAM, headers=_HEADERS)


class EventLogView(ApiView):
    """Whether the events of the project are recorded."""

    scopes = {"GET": Scope.ADMIN, "HEAD": Scope.ADMIN, "PUT": Scope.ADMIN}

    @operation("get_event_log", summary="Get the event log")
    def get(self, request: Request) -> EventLogResponse:
        """Return whether events are recorded."""
        log = EventLog.objects.filter(project_id=self.caller.project_id).first() or EventLog(is_on=False)
        return EventLogResponse(is_on=log.is_on, last_number=log.last_number)

    @operation("set_event_log", summary="Switch the event log", problems=[Code.CONFLICT], example={"is_on": True})
    def put(self, request: Request, body: EventLogBody) -> EventLogResponse:
        """Record events from now on, or none any more. 409 for switching off while the project has webhooks."""
        log = set_event_log(project_id=self.caller.project_id, is_on=body.is_on)
        return EventLogResponse(is_on=log.is_on, last_number=log.last_number)


async def _events(position: EventPosition, first: bytes) -> AsyncIterator[bytes]:
    """Send events until the caller goes or the stream is old enough: then its key is checked again."""
    until = time.monotonic() + settings.EVENT_STREAM_SECONDS
    _open[position.project_id] += 1
    try:
        yield first or HEARTBEAT  # the caller knows at once that it is connected
        while not _is_ending and (left := until - time.monotonic()) > 0:
            nothing = (b"", position.after)
            part, reached = await _news.answer(position, seconds=min(HEARTBEAT_SECONDS, left)) or nothing
            position = replace(position, after=reached)
            yield part or HEARTBEAT
    finally:
        _open[position.project_id] -= 1


def _last_event_id(request: Request) -> int | None:
    text = request.headers.get("Last-Event-ID", "")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 18):
        raise invalid("is not the number of an event", at="Last-Event-ID")
    return int(text)
