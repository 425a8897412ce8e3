"""Send one message about an alert, by webhook or by mail."""

import smtplib

import msgspec
from django.core.mail import EmailMessage
from django.utils import timezone

from apps.actions.alerts.alert_message import mail_subject, mail_text, webhook_body
from apps.actions.webhooks.post_message import post_message, webhook_client
from apps.alerts.enums import DeliveryChannel
from apps.alerts.models import AlertDelivery, AlertRecipients


class NotDelivered(Exception):
    """The recipient has not taken the message; it may be sent again."""


def send_message(delivery: AlertDelivery) -> None:
    """Send a message to its recipient. Raises NotDelivered."""
    if delivery.channel == DeliveryChannel.MAIL:
        _mail(delivery)
    else:
        _post(delivery)


def _post(delivery: AlertDelivery) -> None:
    recipients = AlertRecipients.objects.get(project_id=delivery.project_id)
    if recipients.webhook_url != delivery.recipient:
        raise NotDelivered("no longer a recipient")
    body = msgspec.json.encode(webhook_body(delivery, now=timezone.now()))
    with webhook_client() as client:
        outcome = post_message(
            client,
            url=delivery.recipient,
            body=body,
            message_id=str(delivery.id),
            secrets=[recipients.webhook_secret],
        )
    if outcome.error:
        raise NotDelivered(outcome.error)


def _mail(delivery: AlertDelivery) -> None:
    mail = EmailMessage(mail_subject(delivery), mail_text(delivery), to=[delivery.recipient])
    try:
        mail.send()
    except (smtplib.SMTPException, OSError) as error:
        raise NotDelivered(f"{type(error).__name__}: {error}") from error
