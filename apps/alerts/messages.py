"""Write, enqueue and send the messages of alerts."""

import smtplib
import time
from datetime import timedelta
from typing import Any

import structlog
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from apps.alerts.enums import AlertEvent, DeliveryChannel, ProblemCode
from apps.alerts.models import Alert, AlertDelivery, AlertRecipients
from apps.alerts.verdict import ADVICE, time_text
from apps.events.enums import DeliveryState
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.webhooks.messages import post_message, webhook_client


def webhook_body(delivery: AlertDelivery) -> dict[str, Any]:
    """Return the body of a webhook; `url` is null unless PUBLIC_URL is set."""
    alert = delivery.alert
    return {
        "type": f"alert.{delivery.event}",
        "timestamp": timezone.now().isoformat(),
        "data": {
            "id": alert.shown_id,
            "project": alert.project.slug,
            "kind": alert.kind,
            "subject": alert.subject,
            "cause": alert.cause,
            "cost": alert.cost,
            "figures": alert.figures,
            "opened_at": alert.opened_at.isoformat(),
            "resolved_at": alert.resolved_at.isoformat() if alert.resolved_at else None,
            "remedy": ADVICE[ProblemCode(alert.kind)].remedy,
            "url": remedy_url(alert),
        },
    }


def mail_subject(delivery: AlertDelivery) -> str:
    """Return the subject of a mail, in one line."""
    alert = delivery.alert
    prefix = "Resolved: " if delivery.event == AlertEvent.RESOLVED else ""
    return " ".join(f"[{alert.project.name}] {prefix}{alert.cause}".split())


def mail_text(delivery: AlertDelivery) -> str:
    """Return the text of a mail."""
    alert = delivery.alert
    if delivery.event == AlertEvent.RESOLVED:
        over = f"This is over. It lasted from {time_text(alert.opened_at)} to {time_text(alert.last_seen_at)}."
        return f"{alert.cause}\n\n{over}\n"
    what_to_do = f"{ADVICE[ProblemCode(alert.kind)].remedy} {remedy_url(alert) or ''}".rstrip()
    return f"{alert.cause}\n{alert.cost}\n\n{what_to_do}\nNoticed at {time_text(alert.opened_at)}.\n"


def remedy_url(alert: Alert) -> str | None:
    """Return the address of the page that mends it; None without PUBLIC_URL."""
    if not settings.PUBLIC_URL:
        return None
    path = ADVICE[ProblemCode(alert.kind)].path(alert.project.slug).removeprefix(settings.SUB_PATH)
    return f"{settings.PUBLIC_URL.rstrip('/')}{path}"


def enqueue_messages(*, alert: Alert, event: AlertEvent) -> int:
    """Enqueue a message to each recipient of the project; return how many. A second call for the event adds none."""
    recipients = AlertRecipients.objects.filter(project_id=alert.project_id).first() or AlertRecipients()
    mails = recipients.mail_addresses if settings.EMAIL_HOST else []
    addresses = [(DeliveryChannel.WEBHOOK, recipients.webhook_url)] if recipients.webhook_url else []
    addresses += [(DeliveryChannel.MAIL, each) for each in mails]
    known = {"project_id": alert.project_id, "alert": alert, "event": event.value}
    AlertDelivery.objects.bulk_create(
        [AlertDelivery(channel=channel.value, recipient=address, **known) for channel, address in addresses],
        ignore_conflicts=True,
    )
    return len(addresses)


class NotDelivered(Exception):
    """The recipient has not taken the message; it may be sent again."""


def send_message(delivery: AlertDelivery) -> None:
    """Send a message to its recipient. Raises NotDelivered."""
    if delivery.channel == DeliveryChannel.MAIL:
        try:
            EmailMessage(mail_subject(delivery), mail_text(delivery), to=[delivery.recipient]).send()
        except (smtplib.SMTPException, OSError) as error:
            raise NotDelivered(f"{type(error).__name__}: {error}") from error
        return
    recipients = AlertRecipients.objects.get(project_id=delivery.project_id)
    if recipients.webhook_url != delivery.recipient:
        raise NotDelivered("no longer a recipient")
    message, secrets = webhook_body(delivery), [recipients.webhook_secret]
    with webhook_client() as client:
        outcome = post_message(client, message, message_id=str(delivery.id), url=delivery.recipient, secrets=secrets)
    if outcome.error:
        raise NotDelivered(outcome.error)


log = structlog.get_logger(__name__)
FIRST_WAIT, MOST_WAIT = timedelta(minutes=1), timedelta(hours=1)
MOST_ATTEMPTS = 12  # over about seven hours
CLAIMED_FOR = timedelta(minutes=5)  # longer than a task runs: then the process that claimed it has died


def deliver_messages(*, most: timedelta) -> int:
    """Send due messages until none is left or the time is up, new ones first; return how many were delivered.

    A message is sent at least once: a receiver recognises repetitions by `webhook-id`.
    """
    deadline = time.monotonic() + most.total_seconds()
    delivered = 0
    waiting = AlertDelivery.objects.filter(state=DeliveryState.WAITING)
    earlier = waiting.filter(
        alert=OuterRef("alert"), channel=OuterRef("channel"), recipient=OuterRef("recipient"), id__lt=OuterRef("id")
    )
    while time.monotonic() < deadline:
        now = timezone.now()
        with system_scope(SystemWork.SCHEDULE), transaction.atomic():
            due = waiting.filter(~Exists(earlier), next_try_at__lte=now).order_by("attempts", "next_try_at")
            delivery = due.select_for_update(skip_locked=True, of=("self",)).select_related("alert__project").first()
            if delivery is None:
                break
            delivery.attempts += 1
            delivery.next_try_at = now + CLAIMED_FOR  # until then, other processes pass it over
            delivery.save(update_fields=["attempts", "next_try_at"])
        with tenant_scope(project_id=delivery.project_id):
            delivered += _send(delivery)
    return delivered


def _send(delivery: AlertDelivery) -> bool:
    """Send a claimed message and record the outcome; return True if it was delivered."""
    error = ""
    try:
        send_message(delivery)
    except NotDelivered as failure:
        error = str(failure)[:300]
        log.warning("a message about an alert was not delivered", delivery=str(delivery.id), error=error)
    except Exception as failure:  # the messages of other projects must not wait for the one that is at fault
        error = type(failure).__name__
        log.exception("a message about an alert could not be sent", delivery=str(delivery.id))
    next_try_at = timezone.now() + wait_before_next(delivery.attempts)
    changes = delivery.after_attempt(error=error, next_try_at=next_try_at, is_last=delivery.attempts >= MOST_ATTEMPTS)
    AlertDelivery.objects.filter(id=delivery.id, state=DeliveryState.WAITING).update(**changes)
    return not error


def wait_before_next(attempts: int) -> timedelta:
    """Return how long to wait after so many attempts: 1, 2, 4 … minutes, at most an hour."""
    return min(FIRST_WAIT * 2 ** min(attempts - 1, 10), MOST_WAIT)
