"""Enqueue the messages about an alert: one row for each recipient, in the transaction that changes the alert."""

from collections.abc import Iterator

from django.conf import settings

from apps.alerts.models import Alert, AlertDelivery, AlertRecipients
from apps.pipeline.core.enums import AlertEvent, DeliveryChannel


def enqueue_messages(*, alert: Alert, event: AlertEvent) -> int:
    """Enqueue a message to each recipient of the project; return how many. A second call for the event adds none."""
    recipients = AlertRecipients.objects.filter(project_id=alert.project_id).first()
    rows = [
        AlertDelivery(
            project_id=alert.project_id,
            alert=alert,
            event=event.value,
            channel=channel.value,
            recipient=address,
        )
        for channel, address in (_addresses(recipients) if recipients else ())
    ]
    AlertDelivery.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)


def _addresses(recipients: AlertRecipients) -> Iterator[tuple[DeliveryChannel, str]]:
    if recipients.webhook_url:
        yield DeliveryChannel.WEBHOOK, recipients.webhook_url
    if settings.EMAIL_HOST:
        for address in recipients.mail_addresses:
            yield DeliveryChannel.MAIL, address
