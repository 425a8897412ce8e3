"""Enqueue the messages about an alert: one row for each recipient, in the transaction that changes the alert."""

from django.conf import settings

from apps.alerts.enums import AlertEvent, DeliveryChannel
from apps.alerts.models import Alert, AlertDelivery, AlertRecipients


def enqueue_messages(*, alert: Alert, event: AlertEvent) -> int:
    """Enqueue a message to each recipient of the project; return how many. A second call for the event adds none."""
    recipients = AlertRecipients.objects.filter(project_id=alert.project_id).first()
    addresses = []
    if recipients and recipients.webhook_url:
        addresses.append((DeliveryChannel.WEBHOOK, recipients.webhook_url))
    if recipients and settings.EMAIL_HOST:
        addresses += [(DeliveryChannel.MAIL, address) for address in recipients.mail_addresses]
    rows = [
        AlertDelivery(
            project_id=alert.project_id,
            alert=alert,
            event=event.value,
            channel=channel.value,
            recipient=address,
        )
        for channel, address in addresses
    ]
    AlertDelivery.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)
