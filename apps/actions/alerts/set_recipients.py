"""Set who is told about the alerts of a project."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from apps.actions.errors import Unfit
from apps.actions.ledger.record import record
from apps.actions.webhooks.webhook_address import checked_url
from apps.actions.webhooks.webhook_signature import new_secret
from apps.alerts.models import AlertDelivery, AlertRecipients
from apps.pipeline.core.enums import DeliveryState

MOST_MAIL_ADDRESSES = 20


@dataclass(frozen=True, slots=True)
class RecipientsChange:
    """The recipients of a project; `secret` is that of the webhook if it was just made, and is shown only once."""

    recipients: AlertRecipients
    secret: str = ""


def set_recipients(
    *, project_id: UUID, webhook_url: str, mail_addresses: Sequence[str], renew_secret: bool = False
) -> RecipientsChange:
    """Replace the recipients; messages that wait for a former one are given up. Raises Unfit.

    The first webhook gets a new secret, another one with `renew_secret`; without a webhook the secret is deleted.
    """
    url = checked_url(webhook_url.strip(), at="/webhook_url") if webhook_url.strip() else ""
    addresses = _checked_addresses(mail_addresses)
    with transaction.atomic():
        AlertRecipients.objects.bulk_create([AlertRecipients(project_id=project_id)], ignore_conflicts=True)
        recipients = AlertRecipients.objects.select_for_update().get(project_id=project_id)
        before = (recipients.webhook_url, recipients.webhook_secret, recipients.mail_addresses)
        recipients.webhook_url, recipients.mail_addresses = url, addresses
        secret = new_secret() if url and (renew_secret or not recipients.webhook_secret) else ""
        recipients.webhook_secret = (secret or recipients.webhook_secret) if url else ""
        if before != (url, recipients.webhook_secret, addresses):
            recipients.changed_at = timezone.now()
            recipients.save()
            _give_up_others(recipients)
            details = {"webhook": int(bool(url)), "new_secret": int(bool(secret)), "mail_addresses": len(addresses)}
            record(
                project_id=project_id,
                verb="alert_recipients_set",
                object_kind="project",
                object_id=project_id,
                details=details,
            )
    return RecipientsChange(recipients, secret)


def _give_up_others(recipients: AlertRecipients) -> None:
    waiting = AlertDelivery.objects.filter(project_id=recipients.project_id, state=DeliveryState.WAITING)
    current = [recipients.webhook_url, *recipients.mail_addresses]
    waiting.exclude(recipient__in=current).update(
        state=DeliveryState.FAILED.value, last_error="no longer a recipient", finished_at=timezone.now()
    )


def _checked_addresses(addresses: Sequence[str]) -> list[str]:
    """Return mail addresses, each once. Raises Unfit."""
    if len(addresses) > MOST_MAIL_ADDRESSES:
        raise Unfit(f"must be at most {MOST_MAIL_ADDRESSES} addresses", at="/mail_addresses")
    found = list(dict.fromkeys(address.strip() for address in addresses))
    for index, address in enumerate(found):
        try:
            validate_email(address)
        except ValidationError as error:
            raise Unfit("is no mail address", at=f"/mail_addresses/{index}") from error
        if len(address) > 254:
            raise Unfit("is no mail address", at=f"/mail_addresses/{index}")
    return found
