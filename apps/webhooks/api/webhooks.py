"""Views of /v1/webhooks, for keys with scope admin."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta
from rest_framework.request import Request

from apps.api.actors import ActorResponse, actor_response, actor_response_or_none
from apps.api.base import ApiView
from apps.api.operations import operation
from apps.api.problems import Code
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
    response_of,
)
from apps.api.validation import read_id
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


def webhook_response(webhook: Webhook) -> WebhookResponse:
    """Convert a webhook, without its secret."""
    return response_of(WebhookResponse, webhook, **_values(webhook))


def with_secret(webhook: Webhook) -> WebhookSecretResponse:
    """Convert a webhook with its new secret."""
    return response_of(WebhookSecretResponse, webhook, **_values(webhook))


def _values(webhook: Webhook) -> dict[str, Any]:
    return {
        "id": webhook.shown_id,
        "paused": webhook.is_paused,
        "paused_by": actor_response_or_none(webhook.paused_by),
        "pause_reason": webhook.pause_reason or None,
        "created_by": actor_response(webhook.created_by),
    }


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
        return self.page(
            WebhookList, Webhook.objects.filter(project_id=self.caller.project_id), webhook_response, limit=query.limit
        )

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
        return with_secret(create_webhook(project_id=self.caller.project_id, **msgspec.structs.asdict(body)))


class WebhookView(WebhookBaseView):
    """One webhook."""

    archived_methods = ("DELETE",)

    @operation("read_webhook", summary="Read a webhook", problems=[Code.NOT_FOUND])
    def get(self, request: Request, webhook_id: str) -> WebhookResponse:
        """Read a webhook, without its secret."""
        return webhook_response(find_webhook(**self.named))

    @operation(
        "update_webhook", summary="Change a webhook", problems=[Code.NOT_FOUND, Code.CONFLICT], example={"paused": True}
    )
    def patch(self, request: Request, webhook_id: str, body: WebhookChangeBody) -> WebhookResponse:
        """Change a webhook, pause or resume it. What waits for a paused one is kept for three days."""
        given = msgspec.structs.asdict(body)
        return webhook_response(update_webhook(**self.named, is_paused=given.pop("paused"), **given))

    @operation("delete_webhook", summary="Delete a webhook", problems=[Code.NOT_FOUND])
    def delete(self, request: Request, webhook_id: str) -> None:
        """Delete a webhook with the log of its deliveries; what waits is not sent."""
        delete_webhook(**self.named)


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
        return with_secret(rotate_secret(**self.named, ends_at_once=body.ends_at_once))


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
        deliveries = WebhookDelivery.objects.filter(webhook=find_webhook(**self.named)).select_related("event")
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
