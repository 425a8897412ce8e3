"""Send one delivery to its receiver, and record the outcome."""

from datetime import datetime, timedelta
from uuid import UUID

import httpx2
import msgspec
import structlog
from django.db.models import F
from django.utils import timezone

from apps.actions.webhooks.event_messages import event_messages
from apps.actions.webhooks.post_message import PostOutcome, post_message
from apps.actions.webhooks.side_by_side import release_connection
from apps.events.delivery_times import wait_after
from apps.events.models import Webhook, WebhookDelivery
from apps.pipeline.core.enums import DeliveryState

UNREADABLE_SECRET = "the secret can't be read: it was encrypted under another SECRET_KEY; rotate it"

log = structlog.get_logger(__name__)


def send_delivery(*, webhook: Webhook, delivery_id: UUID, client: httpx2.Client) -> PostOutcome | None:
    """Send a waiting delivery; return the outcome, None if it waits no more: it was erased, or sent by somebody.

    Everything is read again now, so that nothing of an end user is sent who was erased in the meantime.
    """
    waiting = WebhookDelivery.objects.filter(id=delivery_id, webhook=webhook, state=DeliveryState.WAITING)
    delivery = waiting.select_related("event").first()
    if delivery is None or delivery.event is None:
        return None
    secrets = current_secrets(webhook, now=timezone.now())
    if not all(secrets):
        outcome = PostOutcome(duration_ms=0, error=UNREADABLE_SECRET)
        record_outcome(delivery, outcome)
        return outcome
    messages = event_messages([delivery.event], includes_content=webhook.includes_content)
    if not messages:  # its end user is being erased: it is never to be sent
        waiting.delete()
        return None
    release_connection()
    outcome = post_message(
        client,
        url=webhook.url,
        body=msgspec.json.encode(messages[0]),
        message_id=delivery.event.shown_id,
        secrets=secrets,
    )
    record_outcome(delivery, outcome)
    return outcome


def current_secrets(webhook: Webhook, *, now: datetime) -> list[str]:
    """Return the secrets to sign with: the former one, too, while it is being replaced."""
    is_overlapping = webhook.former_secret_until is not None and webhook.former_secret_until > now
    return [webhook.secret, webhook.former_secret] if is_overlapping else [webhook.secret]


def record_outcome(delivery: WebhookDelivery, outcome: PostOutcome) -> None:
    """Record an attempt: delivered, to be tried again, or failed because it was tried for days."""
    now = timezone.now()
    wait = wait_after(delivery.attempts + 1, asked=outcome.retry_after)
    state = _state_after(outcome, is_last=now + wait >= delivery.give_up_at)
    WebhookDelivery.objects.filter(id=delivery.id).update(
        state=state.value,
        attempts=F("attempts") + 1,
        next_try_at=now + (wait if outcome.error else timedelta()),
        response_status=outcome.status,
        duration_ms=outcome.duration_ms,
        last_error=outcome.error,
        finished_at=None if state is DeliveryState.WAITING else now,
    )
    if outcome.error:
        log.warning("a webhook was not delivered", delivery=str(delivery.id), status=outcome.status)


def _state_after(outcome: PostOutcome, *, is_last: bool) -> DeliveryState:
    if not outcome.error:
        return DeliveryState.DELIVERED
    return DeliveryState.FAILED if is_last else DeliveryState.WAITING
