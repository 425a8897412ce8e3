"""Create a webhook of a project, whose events are recorded from then on."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from apps.actions.errors import Conflict
from apps.actions.ledger.actor import current_actor
from apps.actions.ledger.record import record
from apps.actions.webhooks.set_event_log import switch_log
from apps.actions.webhooks.webhook_address import checked_url
from apps.actions.webhooks.webhook_rows import MOST_WEBHOOKS, checked_types, checked_webhook_name
from apps.actions.webhooks.webhook_signature import new_secret
from apps.events.models import Webhook
from apps.pipeline.core.enums import EventType
from apps.tenants.models import Project


@dataclass(frozen=True, slots=True)
class WebhookSecret:
    """A webhook with a secret that was just made, and is shown only once."""

    webhook: Webhook
    secret: str


def create_webhook(
    *, project_id: UUID, name: str, url: str, event_types: Sequence[EventType], includes_content: bool = False
) -> WebhookSecret:
    """Create a webhook, which is told of what is committed from now on.

    Raises Unfit, and Conflict for a name in use or with too many webhooks.
    """
    secret = new_secret()
    webhook = Webhook(
        project_id=project_id,
        name=checked_webhook_name(name),
        url=checked_url(url.strip(), at="/url"),
        event_types=checked_types(event_types),
        includes_content=includes_content,
        secret=secret,
        created_by=current_actor(),
    )
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project_id)  # for the count and the name
        others = Webhook.objects.filter(project_id=project_id)
        if others.count() >= MOST_WEBHOOKS:
            raise Conflict(f"the project has {MOST_WEBHOOKS} webhooks already")
        if others.filter(name=webhook.name).exists():
            raise Conflict("another webhook of the project has this name")
        switch_log(project_id=project_id, is_on=True)
        webhook.save(force_insert=True)
        record(
            project_id=project_id,
            verb="webhook_created",
            object_kind="webhook",
            object_id=webhook.id,
            details={"event_types": webhook.event_types, "includes_content": includes_content},
        )
    return WebhookSecret(webhook, secret)
