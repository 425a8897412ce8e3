"""Send deliveries again: single ones, or all that have failed in a period."""

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from apps.actions.errors import Conflict, NotFound
from apps.actions.ledger.record import record
from apps.actions.webhooks.webhook_rows import held_webhook
from apps.events.delivery_times import GIVEN_UP_AFTER
from apps.events.models import Webhook, WebhookDelivery
from apps.pipeline.core.enums import DeliveryState


def send_again(*, project_id: UUID, webhook_id: UUID, delivery_id: UUID) -> None:
    """Let a delivery be sent again, with the same identifier. Raises NotFound, Conflict for one that still waits."""
    with transaction.atomic():
        webhook = held_webhook(project_id=project_id, webhook_id=webhook_id)
        found = WebhookDelivery.objects.filter(webhook=webhook, id=delivery_id, event__isnull=False)
        if not found.exists():
            raise NotFound("there is no such delivery of an event")
        if not _wait_again(webhook, found.exclude(state=DeliveryState.WAITING)):
            raise Conflict("the delivery waits to be sent already")


def send_failed_again(
    *, project_id: UUID, webhook_id: UUID, since: datetime | None = None, until: datetime | None = None
) -> int:
    """Let all failed deliveries of events of a period be sent again; return how many. Raises NotFound."""
    with transaction.atomic():
        webhook = held_webhook(project_id=project_id, webhook_id=webhook_id)
        failed = WebhookDelivery.objects.filter(webhook=webhook, state=DeliveryState.FAILED, event__isnull=False)
        if since is not None:
            failed = failed.filter(created_at__gte=since)
        if until is not None:
            failed = failed.filter(created_at__lte=until)
        return _wait_again(webhook, failed)


def _wait_again(webhook: Webhook, deliveries: QuerySet[WebhookDelivery]) -> int:
    now = timezone.now()
    sent = deliveries.update(
        state=DeliveryState.WAITING.value,
        next_try_at=now,
        give_up_at=now + GIVEN_UP_AFTER,
        finished_at=None,
    )
    if sent:
        # Somebody who sends again expects a try, even while the receiver is left alone.
        Webhook.objects.filter(id=webhook.id).update(resume_at=now)
        record(
            project_id=webhook.project_id,
            verb="webhook_sent_again",
            object_kind="webhook",
            object_id=webhook.id,
            details={"deliveries": sent},
        )
    return sent
