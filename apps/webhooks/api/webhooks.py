"""Views of /v1/webhooks, for keys with scope admin."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

import msgspec
from django.http import HttpResponse
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.actors import ActorResponse, actor_response, actor_response_or_none
from apps.api.base import ApiView, http_response, replayable_answer, to_json
from apps.api.openapi import documented
from apps.api.pagination import Pages
from apps.api.problems import Code
from apps.api.schemas import (
    DayEnd,
    DayStart,
    Limit,
    Moment,
    PageQuery,
    QueryParameters,
    RequestBody,
    ResponseBody,
    response_of,
)
from apps.api.validation import read_body, read_id, read_query
from apps.events.enums import DeliveryState, EventType
from apps.events.models import WEBHOOK_NAME_LENGTH, WEBHOOK_URL_LENGTH, Webhook, WebhookDelivery
from apps.intake.quotas import RateLimited
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix
from apps.pipeline.core.input_validation import checked_moment
from apps.webhooks.delivery import send_again, send_test
from apps.webhooks.services import create_webhook, delete_webhook, find_webhook, rotate_secret, update_webhook
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


class WebhookList(ResponseBody):
    """Webhooks, newest first."""

    next: str | None
    previous: str | None
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


class DeliveryList(ResponseBody):
    """Deliveries, newest first."""

    next: str | None
    previous: str | None
    results: list[DeliveryResponse]


class SentAgainResponse(ResponseBody):
    """How many deliveries are sent again."""

    deliveries: int


def webhook_response(webhook: Webhook, **secret: str) -> WebhookResponse:
    """Convert a webhook, with `secret` together with its new one."""
    return response_of(
        WebhookSecretResponse if secret else WebhookResponse,
        webhook,
        id=webhook.shown_id,
        paused=webhook.is_paused,
        paused_by=actor_response_or_none(webhook.paused_by),
        pause_reason=webhook.pause_reason or None,
        created_by=actor_response(webhook.created_by),
        **secret,
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

    def answer_once(self, do: Callable[[], Webhook], *, status: int) -> HttpResponse:
        """Answer with a webhook and its new secret, which a repeated request is not told."""
        answer = self.idempotent(
            lambda: replayable_answer(webhook_response(made := do(), secret=made.secret), status=status),
            to_keep=lambda answer: replace(answer, body={**answer.body, "secret": None}),
        )
        return http_response(answer)


class WebhooksView(WebhookBaseView):
    """The webhooks of the project."""

    @documented(operation="list_webhooks", summary="List webhooks", query=PageQuery, responses={200: WebhookList})
    def get(self, request: Request) -> Response:
        """List the project's webhooks, newest first, without their secrets."""
        query = read_query(request, PageQuery)
        pages = Pages(limit=query.limit)
        found = pages.read(Webhook.objects.filter(project_id=self.caller.project_id), request)
        return Response(to_json(WebhookList(results=[webhook_response(each) for each in found], **pages.links())))

    @documented(
        operation="create_webhook",
        summary="Create a webhook",
        body=WebhookBody,
        responses={201: WebhookSecretResponse},
        problems=[Code.CONFLICT],
        example={"name": "crm", "url": "https://example.com/hook", "event_types": ["memory.created", "user.erased"]},
        repeatable=True,
    )
    def post(self, request: Request) -> HttpResponse:
        """Create a webhook. Its secret is returned only once: in the response to a repeated request it is null."""
        body = msgspec.structs.asdict(read_body(request, WebhookBody))
        return self.answer_once(lambda: create_webhook(project_id=self.caller.project_id, **body), status=201)


class WebhookView(WebhookBaseView):
    """One webhook."""

    archived_methods = ("DELETE",)

    @documented(
        operation="read_webhook",
        summary="Read a webhook",
        responses={200: WebhookResponse},
        problems=[Code.NOT_FOUND],
    )
    def get(self, request: Request, webhook_id: str) -> Response:
        """Read a webhook, without its secret."""
        return Response(to_json(webhook_response(find_webhook(**self.named))))

    @documented(
        operation="update_webhook",
        summary="Change a webhook",
        body=WebhookChangeBody,
        responses={200: WebhookResponse},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
        example={"paused": True},
    )
    def patch(self, request: Request, webhook_id: str) -> Response:
        """Change a webhook, pause or resume it. What waits for a paused one is kept for three days."""
        body = msgspec.structs.asdict(read_body(request, WebhookChangeBody))
        changed = update_webhook(**self.named, is_paused=body.pop("paused"), **body)
        return Response(to_json(webhook_response(changed)))

    @documented(
        operation="delete_webhook", summary="Delete a webhook", responses={204: None}, problems=[Code.NOT_FOUND]
    )
    def delete(self, request: Request, webhook_id: str) -> Response:
        """Delete a webhook with the log of its deliveries; what waits is not sent."""
        delete_webhook(**self.named)
        return Response(status=204)


class WebhookRotateView(WebhookBaseView):
    """Replacing the secret of a webhook."""

    @documented(
        operation="rotate_webhook_secret",
        summary="Replace the secret",
        body=WebhookRotateBody,
        responses={200: WebhookSecretResponse},
        problems=[Code.NOT_FOUND],
        example={"ends_at_once": False},
        repeatable=True,
    )
    def post(self, request: Request, webhook_id: str) -> HttpResponse:
        """Make a new secret, which is returned only now; for a day deliveries are signed with both."""
        body = read_body(request, WebhookRotateBody)
        return self.answer_once(lambda: rotate_secret(**self.named, ends_at_once=body.ends_at_once), status=200)


class WebhookTestView(WebhookBaseView):
    """Testing a webhook."""

    @documented(
        operation="send_test_to_webhook",
        summary="Send a test",
        responses={200: DeliveryResponse},
        problems=[Code.NOT_FOUND],
    )
    def post(self, request: Request, webhook_id: str) -> Response:
        """Send a signed test and return its outcome; the receiver has `WEBHOOK_TIMEOUT_SECONDS` to answer.

        429 while `SYNC_REQUESTS` other callers wait for an outcome.
        """
        with permit_to_wait() as is_permitted:
            if not is_permitted:
                raise RateLimited("too many callers wait for an outcome; try again later", retry_after=TEST_RETRY_AFTER)
            sent = send_test(**self.named)
        return Response(to_json(delivery_response(sent)))


class WebhookDeliveriesView(WebhookBaseView):
    """The deliveries of a webhook."""

    @documented(
        operation="list_webhook_deliveries",
        summary="List deliveries",
        query=DeliveriesQuery,
        responses={200: DeliveryList},
        problems=[Code.NOT_FOUND],
    )
    def get(self, request: Request, webhook_id: str) -> Response:
        """List the deliveries of a webhook, newest first."""
        query = read_query(request, DeliveriesQuery)
        filters = {
            "state__in": query.statuses,
            "event_type__in": query.types,
            "created_at__gte": query.since,
            "created_at__lte": query.until,
        }
        deliveries = WebhookDelivery.objects.filter(webhook=find_webhook(**self.named)).select_related("event")
        pages = Pages(limit=query.limit)
        rows = pages.read(deliveries.filter(**{name: value for name, value in filters.items() if value}), request)
        return Response(to_json(DeliveryList(results=[delivery_response(each) for each in rows], **pages.links())))


class WebhookSendAgainView(WebhookBaseView):
    """Sending deliveries again."""

    @documented(
        operation="send_deliveries_again",
        summary="Send deliveries again",
        body=WebhookSendAgainBody,
        responses={200: SentAgainResponse},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
        example={"since": "2026-03-02T00:00:00Z"},
    )
    def post(self, request: Request, webhook_id: str) -> Response:
        """Send one delivery again, or all failed ones, of a period if one is given; events keep their identifiers."""
        body = read_body(request, WebhookSendAgainBody)
        delivery_id = None
        if body.delivery_id is not None:
            delivery_id = read_id(Prefix.WEBHOOK_DELIVERY, body.delivery_id, at="/delivery_id")
        sent = send_again(
            **self.named,
            delivery_id=delivery_id,
            since=checked_moment(body.since, at="/since"),
            until=checked_moment(body.until, at="/until"),
        )
        return Response(to_json(SentAgainResponse(deliveries=sent)))
