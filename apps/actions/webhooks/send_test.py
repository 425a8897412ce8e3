"""Send a test to a webhook while its caller waits, and record it among the deliveries."""

from uuid import UUID

import msgspec
from django.utils import timezone

from apps.actions.errors import NotFound
from apps.actions.ledger.record import record
from apps.actions.webhooks.post_message import post_message, webhook_client
from apps.actions.webhooks.send_delivery import UNREADABLE_SECRET, current_secrets
from apps.actions.webhooks.side_by_side import release_connection
from apps.events.models import Webhook, WebhookDelivery
from apps.pipeline.core.enums import DeliveryState

TEST_TYPE = "webhook.test"


def send_test(*, project_id: UUID, webhook_id: UUID) -> WebhookDelivery:
    """Send a signed message without any data of end users, once; return it with its outcome. Raises NotFound.

    A paused webhook is tested as well, so that its receiver can be checked before it is resumed.
    """
    webhook = Webhook.objects.filter(project_id=project_id, id=webhook_id).first()
    if webhook is None:
        raise NotFound("there is no such webhook")
    now = timezone.now()
    delivery = WebhookDelivery(project_id=project_id, webhook=webhook, event_type=TEST_TYPE, give_up_at=now, attempts=1)
    secrets = current_secrets(webhook, now=now)
    if all(secrets):
        _post(webhook, delivery, secrets)
    else:
        delivery.last_error = UNREADABLE_SECRET
    delivery.state = (DeliveryState.FAILED if delivery.last_error else DeliveryState.DELIVERED).value
    delivery.finished_at = timezone.now()
    delivery.save(force_insert=True)
    details = {"status": delivery.response_status or 0}
    record(project_id=project_id, verb="webhook_tested", object_kind="webhook", object_id=webhook.id, details=details)
    return delivery


def _post(webhook: Webhook, delivery: WebhookDelivery, secrets: list[str]) -> None:
    message = {
        "id": delivery.shown_id,
        "number": 0,
        "type": TEST_TYPE,
        "timestamp": delivery.created_at.isoformat(),
        "data": {"webhook_id": webhook.shown_id},
    }
    release_connection()  # while the receiver takes its time
    with webhook_client() as client:
        outcome = post_message(
            client,
            url=webhook.url,
            body=msgspec.json.encode(message),
            message_id=delivery.shown_id,
            secrets=secrets,
        )
    delivery.response_status, delivery.duration_ms = outcome.status, outcome.duration_ms
    delivery.last_error = outcome.error
