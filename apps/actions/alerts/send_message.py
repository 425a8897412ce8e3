"""Send one message about an alert, by webhook or by mail."""

import smtplib

import httpx2
import msgspec
from django.conf import settings
from django.core.mail import EmailMessage
from django.utils import timezone

from apps.actions.alerts.alert_message import mail_subject, mail_text, webhook_body
from apps.actions.alerts.webhook_signature import signed_headers
from apps.alerts.models import AlertDelivery, AlertRecipients
from apps.pipeline.core.enums import DeliveryChannel
from apps.providers.guarded_transport import guarded_client


class NotDelivered(Exception):
    """The recipient has not taken the message; it may be sent again."""


def send_message(delivery: AlertDelivery) -> None:
    """Send a message to its recipient. Raises NotDelivered."""
    if delivery.channel == DeliveryChannel.MAIL:
        _mail(delivery)
    else:
        _post(delivery)


def _post(delivery: AlertDelivery) -> None:
    now = timezone.now()
    recipients = AlertRecipients.objects.get(project_id=delivery.project_id)
    if recipients.webhook_url != delivery.recipient:
        raise NotDelivered("no longer a recipient")
    body = msgspec.json.encode(webhook_body(delivery, now=now))
    headers = signed_headers(secret=recipients.webhook_secret, message_id=str(delivery.id), now=now, body=body)
    try:
        with guarded_client(
            timeout=settings.WEBHOOK_TIMEOUT_SECONDS, connections=1, private_hosts=settings.WEBHOOK_PRIVATE_HOSTS
        ) as client:
            answer = client.post(
                delivery.recipient, content=body, headers={"Content-Type": "application/json", **headers}
            )
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise NotDelivered(f"{type(error).__name__}: {error}") from error
    if answer.is_redirect:
        raise NotDelivered(f"HTTP {answer.status_code}: redirects are not followed")
    if not answer.is_success:
        raise NotDelivered(f"HTTP {answer.status_code}")


def _mail(delivery: AlertDelivery) -> None:
    mail = EmailMessage(mail_subject(delivery), mail_text(delivery), to=[delivery.recipient])
    try:
        mail.send()
    except (smtplib.SMTPException, OSError) as error:
        raise NotDelivered(f"{type(error).__name__}: {error}") from error
