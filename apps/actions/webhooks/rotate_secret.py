"""Replace the secret of a webhook; for a day deliveries are signed with both."""

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.actions.ledger.record import record
from apps.actions.webhooks.create_webhook import WebhookSecret
from apps.actions.webhooks.webhook_rows import held_webhook
from apps.actions.webhooks.webhook_signature import new_secret

OVERLAP = timedelta(hours=24)


def rotate_secret(*, project_id: UUID, webhook_id: UUID, ends_at_once: bool = False) -> WebhookSecret:
    """Make a new secret and return it. Raises NotFound.

    The former one goes on for OVERLAP, so that the receiver can be changed meanwhile; not with `ends_at_once`, for a
    secret that has become known.
    """
    secret = new_secret()
    with transaction.atomic():
        webhook = held_webhook(project_id=project_id, webhook_id=webhook_id)
        overlaps = bool(webhook.secret) and not ends_at_once
        webhook.former_secret = webhook.secret if overlaps else ""
        webhook.former_secret_until = timezone.now() + OVERLAP if overlaps else None
        webhook.secret = secret
        webhook.save(update_fields=["secret", "former_secret", "former_secret_until"])
        record(
            project_id=project_id,
            verb="webhook_rotated",
            object_kind="webhook",
            object_id=webhook.id,
            details={"overlap_hours": OVERLAP // timedelta(hours=1) if overlaps else 0},
        )
    return WebhookSecret(webhook, secret)
