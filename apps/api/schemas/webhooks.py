"""Schemas of /v1/webhooks."""

from typing import Annotated, Any

from msgspec import Meta

from apps.api.schemas.actors import ActorResponse, actor_response, actor_response_or_none
from apps.api.schemas.common import DayEnd, DayStart, Limit, Moment, QueryParameters, RequestBody, ResponseBody
from apps.events.models import WEBHOOK_NAME_LENGTH, WEBHOOK_URL_LENGTH, Webhook, WebhookDelivery
from apps.pipeline.core.enums import DeliveryState, EventType
from apps.pipeline.core.identifiers import Prefix, show

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

    state: tuple[DeliveryState, ...] = ()
    event_type: tuple[EventType, ...] = ()
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
    state: DeliveryState
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


def webhook_response(webhook: Webhook) -> WebhookResponse:
    """Convert a webhook."""
    return WebhookResponse(**_webhook_fields(webhook))


def webhook_secret_response(webhook: Webhook, *, secret: str) -> WebhookSecretResponse:
    """Convert a webhook together with its new secret."""
    return WebhookSecretResponse(**_webhook_fields(webhook), secret=secret)


def _webhook_fields(webhook: Webhook) -> dict[str, Any]:
    return {
        "id": webhook.shown_id,
        "name": webhook.name,
        "url": webhook.url,
        "event_types": [EventType(each) for each in webhook.event_types],
        "includes_content": webhook.includes_content,
        "paused": webhook.paused_at is not None,
        "paused_at": webhook.paused_at,
        "paused_by": actor_response_or_none(webhook.paused_by),
        "pause_reason": webhook.pause_reason or None,
        "failing_since": webhook.failing_since,
        "former_secret_until": webhook.former_secret_until,
        "created_at": webhook.created_at,
        "created_by": actor_response(webhook.created_by),
    }


def delivery_response(delivery: WebhookDelivery) -> DeliveryResponse:
    """Convert a delivery that was read with its event."""
    state = DeliveryState(delivery.state)
    return DeliveryResponse(
        id=delivery.shown_id,
        event_id=show(Prefix.EVENT, delivery.event.event_id) if delivery.event else None,
        event_type=delivery.event_type,
        state=state,
        attempts=delivery.attempts,
        next_try_at=delivery.next_try_at if state is DeliveryState.WAITING else None,
        response_status=delivery.response_status,
        duration_ms=delivery.duration_ms,
        last_error=delivery.last_error or None,
        created_at=delivery.created_at,
        finished_at=delivery.finished_at,
    )
