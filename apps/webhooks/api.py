"""Endpoints /v1/webhooks and /v1/events, for keys with scope admin: events name every end user."""

import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime
from functools import wraps
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.actors import ActorSerializer
from apps.api.parsers import NoNegotiation
from apps.api.problems import Code, Problem, invalid
from apps.api.serializers import (
    MAX_PAGE,
    OPTIONAL,
    ApiModelSerializer,
    ApiSerializer,
    DayEndField,
    DayStartField,
    EnumField,
    MomentField,
    NullIfBlankField,
    PageQuery,
    PublicIdField,
    QuerySerializer,
)
from apps.api.viewsets import ApiViewSet, operation
from apps.api.waiting import SharedPoll, release
from apps.common.errors import Conflict
from apps.events.enums import DeliveryState, EventType
from apps.events.models import WEBHOOK_NAME_LENGTH, WEBHOOK_URL_LENGTH, EventLog, Webhook, WebhookDelivery
from apps.intake.quotas import RateLimited
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix
from apps.webhooks import services
from apps.webhooks.delivery import send_again, send_test
from apps.webhooks.services import EventPosition, read_on, read_streams
from apps.worker.run_now import permit_to_wait


class WebhookSerializer(ApiModelSerializer):
    """A webhook without its secret. `failing_since` is null once something is delivered.

    With `includes_content` it is sent the sentences of active memories, too.
    """

    id = serializers.CharField(source="shown_id", read_only=True)
    event_types = serializers.ListField(child=EnumField(EventType), min_length=1, max_length=len(EventType))
    includes_content = serializers.BooleanField(default=False)
    paused = serializers.BooleanField(source="is_paused", read_only=True)
    paused_by = ActorSerializer(read_only=True, allow_null=True)
    pause_reason = NullIfBlankField(read_only=True)
    created_by = ActorSerializer(read_only=True)

    class Meta:
        model = Webhook
        fields = [
            *("id", "name", "url", "event_types", "includes_content", "paused", "paused_at", "paused_by"),
            *("pause_reason", "failing_since", "former_secret_until", "created_at", "created_by"),
        ]
        read_only_fields = ("paused_at", "failing_since", "former_secret_until", "created_at")


class WebhookSecretSerializer(WebhookSerializer):
    """A webhook with a new secret, which is returned only once; it is null in the response to a repeated request."""

    secret = serializers.CharField(read_only=True, allow_null=True)

    class Meta(WebhookSerializer.Meta):
        fields = [*WebhookSerializer.Meta.fields, "secret"]


class WebhookChangeSerializer(ApiSerializer):
    """New values of a webhook; what is left out stays as it is."""

    name = serializers.CharField(max_length=WEBHOOK_NAME_LENGTH, **OPTIONAL)
    url = serializers.CharField(max_length=WEBHOOK_URL_LENGTH, **OPTIONAL)
    event_types = serializers.ListField(child=EnumField(EventType), min_length=1, max_length=len(EventType), **OPTIONAL)
    includes_content = serializers.BooleanField(**OPTIONAL)
    paused = serializers.BooleanField(source="is_paused", **OPTIONAL)


class WebhookRotateSerializer(ApiSerializer):
    """Whether the former secret ends at once, because it has become known."""

    ends_at_once = serializers.BooleanField(default=False)


class WebhookSendAgainSerializer(ApiSerializer):
    """What to send again: one delivery, or without `delivery_id` all failed ones, of a period if one is given."""

    delivery_id = PublicIdField(Prefix.WEBHOOK_DELIVERY, **OPTIONAL)
    since = MomentField(**OPTIONAL)
    until = MomentField(**OPTIONAL)


class SentAgainSerializer(ApiSerializer):
    """How many deliveries are sent again."""

    deliveries = serializers.IntegerField()


class DeliverySerializer(ApiModelSerializer):
    """A delivery of an event, or of a test, whose `event_id` is null."""

    id = serializers.CharField(source="shown_id")
    event_id = serializers.CharField(source="event.shown_id", allow_null=True, default=None)
    status = EnumField(DeliveryState, source="state")
    next_try_at = serializers.SerializerMethodField()
    last_error = NullIfBlankField()

    class Meta:
        model = WebhookDelivery
        fields = (
            *("id", "event_id", "event_type", "status", "attempts", "next_try_at", "response_status", "duration_ms"),
            *("last_error", "created_at", "finished_at"),
        )

    def get_next_try_at(self, delivery: WebhookDelivery) -> datetime | None:
        """Return when the next attempt is due; None if there is none."""
        return delivery.next_try_at if delivery.state == DeliveryState.WAITING else None


class DeliveriesQuery(PageQuery):
    """Filters for deliveries, each with its lookup as the source."""

    statuses = serializers.ListField(child=EnumField(DeliveryState), default=list, source="state__in")
    types = serializers.ListField(child=EnumField(EventType), default=list, source="event_type__in")
    since = DayStartField(**OPTIONAL, source="created_at__gte")
    until = DayEndField(**OPTIONAL, source="created_at__lte")


TEST_RETRY_AFTER = 10  # seconds
SECRET_ONCE = {"secret": None}  # in what is stored for repeated requests


class WebhookViewSet(ApiViewSet):
    """The webhooks of the project, for keys with scope admin: events name every end user."""

    prefix = Prefix.WEBHOOK
    queryset = Webhook.objects.all()
    lookup_url_kwarg = "webhook_id"
    scopes = dict.fromkeys(("GET", "HEAD", "POST", "PATCH", "DELETE"), Scope.ADMIN)
    archived_methods = ("DELETE",)

    @operation("list_webhooks", summary="List webhooks", query=PageQuery, answers={200: WebhookSerializer(many=True)})
    def list(self, request: Request) -> Response:
        """List the project's webhooks, newest first, without their secrets."""
        return self.answer_page(WebhookSerializer, self.get_queryset())

    @operation(
        "create_webhook",
        summary="Create a webhook",
        body=WebhookSerializer,
        answers={201: WebhookSecretSerializer},
        problems=[Code.CONFLICT],
        example={"name": "crm", "url": "https://example.com/hook", "event_types": ["memory.created", "user.erased"]},
        is_repeatable=True,
        kept=SECRET_ONCE,
    )
    def create(self, request: Request) -> Response:
        """Create a webhook. Its secret is returned only once: in the response to a repeated request it is null."""
        webhook = services.create_webhook(project_id=self.caller.project_id, **self.valid(WebhookSerializer))
        return self.answer(WebhookSecretSerializer, webhook, status=201)

    @operation("read_webhook", summary="Read a webhook", answers={200: WebhookSerializer}, problems=[Code.NOT_FOUND])
    def retrieve(self, request: Request, webhook_id: str) -> Response:
        """Read a webhook, without its secret."""
        return self.answer(WebhookSerializer, self.get_object())

    @operation(
        "update_webhook",
        summary="Change a webhook",
        body=WebhookChangeSerializer,
        answers={200: WebhookSerializer},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
        example={"paused": True},
    )
    def partial_update(self, request: Request, webhook_id: str) -> Response:
        """Change a webhook, pause or resume it. What waits for a paused one is kept for three days."""
        webhook = services.update_webhook(**self.named, **self.valid(WebhookChangeSerializer))
        return self.answer(WebhookSerializer, webhook)

    @operation("delete_webhook", summary="Delete a webhook", answers={204: None}, problems=[Code.NOT_FOUND])
    def destroy(self, request: Request, webhook_id: str) -> Response:
        """Delete a webhook with the log of its deliveries; what waits is not sent."""
        services.delete_webhook(**self.named)
        return Response(status=204)

    @operation(
        "rotate_webhook_secret",
        summary="Replace the secret",
        body=WebhookRotateSerializer,
        answers={200: WebhookSecretSerializer},
        problems=[Code.NOT_FOUND],
        example={"ends_at_once": False},
        is_repeatable=True,
        kept=SECRET_ONCE,
    )
    @action(methods=["post"], detail=True)
    def rotate(self, request: Request, webhook_id: str) -> Response:
        """Make a new secret, which is returned only now; for a day deliveries are signed with both."""
        webhook = services.rotate_secret(**self.named, **self.valid(WebhookRotateSerializer))
        return self.answer(WebhookSecretSerializer, webhook)

    @operation(
        "send_test_to_webhook", summary="Send a test", answers={200: DeliverySerializer}, problems=[Code.NOT_FOUND]
    )
    @action(methods=["post"], detail=True)
    def test(self, request: Request, webhook_id: str) -> Response:
        """Send a signed test and return its outcome; the receiver has `WEBHOOK_TIMEOUT_SECONDS` to answer.

        429 while `SYNC_REQUESTS` other callers wait for an outcome.
        """
        with permit_to_wait() as is_permitted:
            if not is_permitted:
                raise RateLimited("too many callers wait for an outcome; try again later", retry_after=TEST_RETRY_AFTER)
            sent = send_test(**self.named)
        return self.answer(DeliverySerializer, sent)

    @operation(
        "list_webhook_deliveries",
        summary="List deliveries",
        query=DeliveriesQuery,
        answers={200: DeliverySerializer(many=True)},
        problems=[Code.NOT_FOUND],
    )
    @action(detail=True)
    def deliveries(self, request: Request, webhook_id: str) -> Response:
        """List the deliveries of a webhook, newest first."""
        rows = WebhookDelivery.objects.filter(webhook=self.get_object()).select_related("event")
        lookups = {name: value for name, value in self.query.items() if "__" in name and value}
        return self.answer_page(DeliverySerializer, rows.filter(**lookups))

    @operation(
        "send_deliveries_again",
        summary="Send deliveries again",
        body=WebhookSendAgainSerializer,
        answers={200: SentAgainSerializer},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
        example={"since": "2026-03-02T00:00:00Z"},
    )
    @action(methods=["post"], detail=True, url_path="send-again")
    def send_again(self, request: Request, webhook_id: str) -> Response:
        """Send one delivery again, or all failed ones, of a period if one is given; events keep their identifiers."""
        sent = send_again(**self.named, **self.valid(WebhookSendAgainSerializer))
        return self.answer(SentAgainSerializer, {"deliveries": sent})


class EventStreamQuery(QuerySerializer):
    """Which events to follow; without `after` and `Last-Event-ID` those that happen from now on."""

    after = serializers.IntegerField(min_value=0, max_value=2**63 - 1, **OPTIONAL)
    types = serializers.ListField(child=EnumField(EventType), default=list)
    includes_content = serializers.BooleanField(default=False)


class EventsQuery(EventStreamQuery):
    """Which events to read: those with a higher number than `after`, of some types or, without `types`, of all."""

    after = serializers.IntegerField(min_value=0, max_value=2**63 - 1, default=0)
    limit = serializers.IntegerField(min_value=1, max_value=MAX_PAGE, default=100)


class EventSerializer(ApiSerializer):
    """An event. `id` is the same in every delivery of it; `number` counts the events of the project from 1.

    `data` holds identifiers, states and numbers; with `includes_content` also the sentence of a memory that is active
    and told to all agents.
    """

    id = serializers.CharField()
    number = serializers.IntegerField()
    type = EnumField(EventType)
    timestamp = MomentField()
    data = serializers.DictField()  # type: ignore[assignment]  # a field is no attribute of the class


class EventListSerializer(ApiSerializer):
    """Events, oldest first. Read on with `after` = `next_after`; `last_number` is that of the project's last event."""

    results = EventSerializer(many=True)
    next_after = serializers.IntegerField()
    last_number = serializers.IntegerField()


class EventLogSerializer(ApiModelSerializer):
    """Whether the events of the project are recorded, and the number of the last one."""

    is_on = serializers.BooleanField()

    class Meta:
        model = EventLog
        fields = ("is_on", "last_number")
        read_only_fields = ("last_number",)


EVENT_STREAM = "text/event-stream"
POLL_SECONDS = 0.25
HEARTBEAT_SECONDS = 15.0
HEARTBEAT = b": still here\n\n"
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # proxies must pass each event on at once

news = SharedPoll(read_streams, interval=POLL_SECONDS)
_open: Counter[UUID] = Counter()  # streams of this process, by project


class EventViewSet(ApiViewSet):
    """The events of the project, for keys with scope admin: they name every end user."""

    scopes = dict.fromkeys(("GET", "HEAD", "PUT"), Scope.ADMIN)

    @classmethod
    def as_view(cls, *args: Any, **initkwargs: Any) -> Any:
        """Return an async view: a stream holds nothing while it waits."""
        begin = super().as_view(*args, **initkwargs)

        @wraps(begin)
        async def view(request: HttpRequest) -> HttpResponseBase:
            response: HttpResponseBase = await sync_to_async(begin)(request)
            if response.streaming:
                await release(request)
            return response

        return view

    @operation(
        "list_events",
        summary="List events",
        query=EventsQuery,
        answers={200: EventListSerializer},
        problems=[Code.CONFLICT],
    )
    def list(self, request: Request) -> Response:
        """Read events on from a number, oldest first (scope admin). 409 if the project records none."""
        position, last = self.begin()
        messages, reached = read_on(position, limit=self.query["limit"], last=last)
        return self.answer(EventListSerializer, {"results": messages, "next_after": reached, "last_number": last})

    @operation("get_event_log", summary="Get the event log", answers={200: EventLogSerializer})
    @action(detail=False)
    def log(self, request: Request) -> Response:
        """Return whether events are recorded."""
        log = EventLog.objects.filter(project_id=self.caller.project_id).first()
        return self.answer(EventLogSerializer, log or EventLog(is_on=False))

    @operation(
        "set_event_log",
        summary="Switch the event log",
        body=EventLogSerializer,
        answers={200: EventLogSerializer},
        problems=[Code.CONFLICT],
        example={"is_on": True},
    )
    @log.mapping.put
    def set_log(self, request: Request) -> Response:
        """Record events from now on, or none any more. 409 for switching off while the project has webhooks."""
        log = services.set_event_log(project_id=self.caller.project_id, **self.valid(EventLogSerializer))
        return self.answer(EventLogSerializer, log)

    @operation(
        "follow_events",
        summary="Follow events",
        query=EventStreamQuery,
        answers={(200, EVENT_STREAM): OpenApiTypes.STR},
        problems=[Code.CONFLICT, Code.RATE_LIMITED],
    )
    @action(detail=False, content_negotiation_class=NoNegotiation)  # callers ask for a stream of events
    def stream(self, request: Request) -> StreamingHttpResponse:
        """Send events as they happen (scope admin), with their number as `id`, which a caller that comes again sends as
        `Last-Event-ID`.

        The stream ends after some minutes, and the caller connects again. 409 if the project records none.
        """
        position, _ = self.begin()
        if last := request.headers.get("Last-Event-ID", ""):
            if not (last.isascii() and last.isdecimal() and len(last) <= 18):
                raise invalid("is not the number of an event", at="Last-Event-ID")
            position = replace(position, after=int(last))
        if (
            _open[position.project_id] >= settings.EVENT_STREAMS_PER_PROJECT
            or _open.total() >= settings.WAITING_REQUESTS
        ):
            raise Problem(Code.RATE_LIMITED, "as many streams of events are open as may be; read /v1/events")
        part, reached = read_streams({position}).get(position, (b"", position.after))
        followed = _events(replace(position, after=reached), part)
        return StreamingHttpResponse(followed, content_type=EVENT_STREAM, headers=_HEADERS)

    def begin(self) -> tuple[EventPosition, int]:
        """Return where the caller begins to read, and the number of the last event.

        Raises Conflict if the project records none.
        """
        log = EventLog.objects.filter(project_id=self.caller.project_id, is_on=True).first()
        if log is None:
            raise Conflict("the events of the project are not recorded: an admin switches them on at /v1/events/log")
        after = log.last_number if self.query["after"] is None else self.query["after"]
        types, includes_content = tuple(self.query["types"]), self.query["includes_content"]
        return EventPosition(log.project_id, after, types, includes_content), log.last_number


async def _events(position: EventPosition, first: bytes) -> AsyncIterator[bytes]:
    """Send events until the caller goes or the stream is old enough: then its key is checked again."""
    until = time.monotonic() + settings.EVENT_STREAM_SECONDS
    _open[position.project_id] += 1
    try:
        yield first or HEARTBEAT  # the caller knows at once that it is connected
        while not news.has_ended and (left := until - time.monotonic()) > 0:
            nothing = (b"", position.after)
            part, reached = await news.answer(position, seconds=min(HEARTBEAT_SECONDS, left)) or nothing
            position = replace(position, after=reached)
            yield part or HEARTBEAT
    finally:
        _open[position.project_id] -= 1
