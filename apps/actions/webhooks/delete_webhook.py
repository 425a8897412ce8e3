"""Delete a webhook with its deliveries."""

from uuid import UUID

from django.db import transaction

from apps.actions.ledger.record import record
from apps.actions.webhooks.webhook_rows import held_webhook


def delete_webhook(*, project_id: UUID, webhook_id: UUID) -> None:
    """Delete a webhook and the log of its deliveries; what waits is not sent. Raises NotFound."""
    with transaction.atomic():
        webhook = held_webhook(project_id=project_id, webhook_id=webhook_id, is_deleted=True)
        record(project_id=project_id, verb="webhook_deleted", object_kind="webhook", object_id=webhook.id)
        webhook.delete()
