"""Endpoints /v1/webhooks and /v1/events, for keys with scope admin: events name every end user."""

import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial, wraps
from typing import Annotated, Any
from uuid import UUID

import msgspec
from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from msgspec import Meta
from rest_framework.request import Request

from apps.api.actors import ActorResponse, actor_response, actor_response_or_none
from apps.api.base import ApiView
from apps.api.operations import operation
from apps.api.parsers import NoNegotiation
from apps.api.problems import Code, Problem, invalid
from apps.api.schemas import (
    DayEnd,
    DayStart,
    Limit,
    Moment,
    PageBody,
    PageQuery,
    QueryParameters,
    RequestBody,
    ResponseBody,
    Shape,
    response_of,
)
from apps.api.validation import read_id
from apps.api.waiting import SharedPoll, release
from apps.common.errors import Conflict
from apps.events.enums import DeliveryState, EventType
from apps.events.models import WEBHOOK_NAME_LENGTH, WEBHOOK_URL_LENGTH, EventLog, Webhook, WebhookDelivery
from apps.intake.quotas import RateLimited
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix
from apps.pipeline.core.input_validation import checked_moment
from apps.webhooks import services
from apps.webhooks.delivery import send_again, send_test
from apps.webhooks.services import EventPosition, read_on, read_streams
from apps.worker.run_now import permit_to_wait

WebhookName = Annotated[str, Meta(min_length=1, max_length=WEBHOOK_NAME_LENGTH)]
WebhookUrl = Annotated[str, Meta(min_length=1, max_length=WEBHOOK_URL_LENGTH)]
EventTypes = Annotated[tuple[EventType, ...], Meta(min_length=1, max_length=len(EventType))]


class WebhookBody(RequestBody):
    """A webhook to create. With `includes_content` it is sent the sentences of active memories, too."""

    name: WebhookName
    url: WebhookUrl
    event_types: EventTypes
    includes_content: bool = False


class WebhookChangeBody(RequestBody):
    """New values of a webhook; what is left out stays as it is."""

    name: WebhookName | None = None
    url: WebhookUrl | None = None
    event_types: EventTypes | None = None
    includes_content: bool | None = None
    paused: bool | None = None


class WebhookRotateBody(RequestBody):
    """Whether the former secret ends at once, because it has become known."""

    ends_at_once: bool = False


class WebhookSendAgainBody(RequestBody):
    """What to send again: one delivery, or without `delivery_id` all failed ones, of a period if one is given."""

    delivery_id: Annotated[str, Meta(max_length=64)] | None = None
    since: Moment | None = None
    until: Moment | None = None


class DeliveriesQuery(QueryParameters):
    """Filters for deliveries."""

    statuses: tuple[DeliveryState, ...] = ()
    types: tuple[EventType, ...] = ()
    since: DayStart | None = None
    until: DayEnd | None = None
    cursor: str | None = None
    limit: Limit = 50


class WebhookResponse(ResponseBody):
    """A webhook without its secret. `failing_since` is null once something is delivered."""

    id: str
    name: str
    url: str
    event_types: list[EventType]
    includes_content: bool
    paused: bool
    paused_at: Moment | None
    paused_by: ActorResponse | None
    pause_reason: str | None
    failing_since: Moment | None
    former_secret_until: Moment | None
    created_at: Moment
    created_by: ActorResponse


class WebhookList(PageBody):
    """Webhooks, newest first."""

    results: list[WebhookResponse]


class WebhookSecretResponse(WebhookResponse):
    """A webhook with a new secret, which is returned only once; it is null in the response to a repeated request."""

    secret: str | None


class DeliveryResponse(ResponseBody):
    """A delivery of an event, or of a test, whose `event_id` is null."""

    id: str
    event_id: str | None
    event_type: str
    status: DeliveryState
    attempts: int
    next_try_at: Moment | None
    response_status: int | None
    duration_ms: int | None
    last_error: str | None
    created_at: Moment
    finished_at: Moment | None


class DeliveryList(PageBody):
    """Deliveries, newest first."""

    results: list[DeliveryResponse]


class SentAgainResponse(ResponseBody):
    """How many deliveries are sent again."""

    deliveries: int


def _shown(shape: type[Shape], webhook: Webhook) -> Shape:
    return response_of(
        shape,
        webhook,
        id=webhook.shown_id,
        paused=webhook.is_paused,
        paused_by=actor_response_or_none(webhook.paused_by),
        pause_reason=webhook.pause_reason or None,
        created_by=actor_response(webhook.created_by),
    )


def delivery_response(delivery: WebhookDelivery) -> DeliveryResponse:
    """Convert a delivery that was read with its event."""
    return response_of(
        DeliveryResponse,
        delivery,
        id=delivery.shown_id,
        event_id=delivery.event.shown_id if delivery.event else None,
        status=delivery.state,
        next_try_at=delivery.next_try_at if delivery.state == DeliveryState.WAITING else None,
        last_error=delivery.last_error or None,
    )


TEST_RETRY_AFTER = 10  # seconds


class WebhookBaseView(ApiView):
    """A view of webhooks; all need the scope admin."""

    scopes = dict.fromkeys(("GET", "HEAD", "POST", "PATCH", "DELETE"), Scope.ADMIN)

    @property
    def named(self) -> dict[str, Any]:
        """Return project and webhook of the path as actions take them. Raises Problem not_found."""
        webhook_id = read_id(Prefix.WEBHOOK, self.kwargs["webhook_id"])
        return {"project_id": self.caller.project_id, "webhook_id": webhook_id}


class WebhooksView(WebhookBaseView):
    """The webhooks of the project."""

    @operation("list_webhooks", summary="List webhooks")
    def get(self, request: Request, query: PageQuery) -> WebhookList:
        """List the project's webhooks, newest first, without their secrets."""
        rows = Webhook.objects.filter(project_id=self.caller.project_id)
        return self.page(WebhookList, rows, partial(_shown, WebhookResponse), limit=query.limit)

    @operation(
        "create_webhook",
        summary="Create a webhook",
        status=201,
        problems=[Code.CONFLICT],
        example={"name": "crm", "url": "https://example.com/hook", "event_types": ["memory.created", "user.erased"]},
        repeatable=True,
        kept={"secret": None},
    )
    def post(self, request: Request, body: WebhookBody) -> WebhookSecretResponse:
        """Create a webhook. Its secret is returned only once: in the response to a repeated request it is null."""
        webhook = services.create_webhook(project_id=self.caller.project_id, **msgspec.structs.asdict(body))
        return _shown(WebhookSecretResponse, webhook)


class WebhookView(WebhookBaseView):
    """One webhook."""

    archived_methods = ("DELETE",)

    @operation("read_webhook", summary="Read a webhook", problems=[Code.NOT_FOUND])
    def get(self, request: Request, webhook_id: str) -> WebhookResponse:
        """Read a webhook, without its secret."""
        return _shown(WebhookResponse, services.find_webhook(**self.named))

    @operation(
        "update_webhook", summary="Change a webhook", problems=[Code.NOT_FOUND, Code.CONFLICT], example={"paused": True}
    )
    def patch(self, request: Request, webhook_id: str, body: WebhookChangeBody) -> WebhookResponse:
        """Change a webhook, pause or resume it. What waits for a paused one is kept for three days."""
        given = msgspec.structs.asdict(body)
        webhook = services.update_webhook(**self.named, is_paused=given.pop("paused"), **given)
        return _shown(WebhookResponse, webhook)

    @operation("delete_webhook", summary="Delete a webhook", problems=[Code.NOT_FOUND])
    def delete(self, request: Request, webhook_id: str) -> None:
        """Delete a webhook with the log of its deliveries; what waits is not sent."""
        services.delete_webhook(**self.named)


class WebhookRotateView(WebhookBaseView):
    """Replacing the secret of a webhook."""

    @operation(
        "rotate_webhook_secret",
        summary="Replace the secret",
        problems=[Code.NOT_FOUND],
        example={"ends_at_once": False},
        repeatable=True,
        kept={"secret": None},
    )
    def post(self, request: Request, webhook_id: str, body: WebhookRotateBody) -> WebhookSecretResponse:
        """Make a new secret, which is returned only now; for a day deliveries are signed with both."""
        webhook = services.rotate_secret(**self.named, ends_at_once=body.ends_at_once)
        return _shown(WebhookSecretResponse, webhook)


class WebhookTestView(WebhookBaseView):
    """Testing a webhook."""

    @operation("send_test_to_webhook", summary="Send a test", problems=[Code.NOT_FOUND])
    def post(self, request: Request, webhook_id: str) -> DeliveryResponse:
        """Send a signed test and return its outcome; the receiver has `WEBHOOK_TIMEOUT_SECONDS` to answer.

        429 while `SYNC_REQUESTS` other callers wait for an outcome.
        """
        with permit_to_wait() as is_permitted:
            if not is_permitted:
                raise RateLimited("too many callers wait for an outcome; try again later", retry_after=TEST_RETRY_AFTER)
            sent = send_test(**self.named)
        return delivery_response(sent)


class WebhookDeliveriesView(WebhookBaseView):
    """The deliveries of a webhook."""

    @operation("list_webhook_deliveries", summary="List deliveries", problems=[Code.NOT_FOUND])
    def get(self, request: Request, webhook_id: str, query: DeliveriesQuery) -> DeliveryList:
        """List the deliveries of a webhook, newest first."""
        filters = {
            "state__in": query.statuses,
            "event_type__in": query.types,
            "created_at__gte": query.since,
            "created_at__lte": query.until,
        }
        deliveries = WebhookDelivery.objects.filter(webhook=services.find_webhook(**self.named)).select_related("event")
        rows = deliveries.filter(**{name: value for name, value in filters.items() if value})
        return self.page(DeliveryList, rows, delivery_response, limit=query.limit)


class WebhookSendAgainView(WebhookBaseView):
    """Sending deliveries again."""

    @operation(
        "send_deliveries_again",
        summary="Send deliveries again",
        problems=[Code.NOT_FOUND, Code.CONFLICT],
        example={"since": "2026-03-02T00:00:00Z"},
    )
    def post(self, request: Request, webhook_id: str, body: WebhookSendAgainBody) -> SentAgainResponse:
        """Send one delivery again, or all failed ones, of a period if one is given; events keep their identifiers."""
        delivery_id = None
        if body.delivery_id is not None:
            delivery_id = read_id(Prefix.WEBHOOK_DELIVERY, body.delivery_id, at="/delivery_id")
        sent = send_again(
            **self.named,
            delivery_id=delivery_id,
            since=checked_moment(body.since, at="/since"),
            until=checked_moment(body.until, at="/until"),
        )
        return SentAgainResponse(deliveries=sent)


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
        log = services.set_event_log(project_id=self.caller.project_id, is_on=body.is_on)
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
