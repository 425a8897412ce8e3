"""Change a webhook: its name, address or events, or pause and resume it."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.actions.errors import Conflict
from apps.actions.ledger.actor import current_actor
from apps.actions.ledger.record import record
from apps.actions.webhooks.webhook_address import checked_url
from apps.actions.webhooks.webhook_rows import checked_types, checked_webhook_name, held_webhook
from apps.events.models import Webhook
from apps.pipeline.core.enums import EventType


@dataclass(frozen=True, slots=True)
class WebhookChange:
    """New values of a webhook; None leaves a value as it is."""

    name: str | None = None
    url: str | None = None
    event_types: Sequence[EventType] | None = None
    includes_content: bool | None = None
    is_paused: bool | None = None


def update_webhook(*, project_id: UUID, webhook_id: UUID, change: WebhookChange) -> Webhook:
    """Change a webhook and return it. Raises NotFound, Unfit, Conflict for a name in use.

    What waits for a paused webhook is kept, and sent once it is resumed, up to three days after it was due.
    """
    with transaction.atomic():
        webhook = held_webhook(project_id=project_id, webhook_id=webhook_id)
        before = _values(webhook)
        _apply(webhook, change)
        changed = sorted(name for name, value in _values(webhook).items() if value != before[name])
        if changed:
            _check_name(webhook)
            webhook.save()
            record(
                project_id=project_id,
                verb=_verb(webhook, changed),
                object_kind="webhook",
                object_id=webhook.id,
                details=_details(webhook, changed),
            )
    return webhook


def _values(webhook: Webhook) -> dict[str, object]:
    is_paused = webhook.paused_at is not None
    return {
        "name": webhook.name,
        "url": webhook.url,
        "event_types": webhook.event_types,
        "includes_content": webhook.includes_content,
        "is_paused": is_paused,
    }


def _apply(webhook: Webhook, change: WebhookChange) -> None:
    if change.name is not None:
        webhook.name = checked_webhook_name(change.name)
    if change.url is not None and change.url.strip() != webhook.url:
        webhook.url = checked_url(change.url.strip(), at="/url")
        _forget_failures(webhook)
    if change.event_types is not None:
        webhook.event_types = checked_types(change.event_types)
    if change.includes_content is not None:
        webhook.includes_content = change.includes_content
    if change.is_paused is True and webhook.paused_at is None:
        webhook.paused_at, webhook.paused_by = timezone.now(), current_actor()
    if change.is_paused is False and webhook.paused_at is not None:
        webhook.paused_at, webhook.paused_by, webhook.pause_reason = None, "", ""
        _forget_failures(webhook)


def _forget_failures(webhook: Webhook) -> None:
    webhook.failures, webhook.failing_since, webhook.resume_at = 0, None, timezone.now()


def _check_name(webhook: Webhook) -> None:
    others = Webhook.objects.filter(project_id=webhook.project_id, name=webhook.name).exclude(id=webhook.id)
    if others.exists():
        raise Conflict("another webhook of the project has this name")


def _details(webhook: Webhook, changed: Sequence[str]) -> dict[str, object]:
    """Return what the ledger tells: the names of the fields, and whether sentences are sent from now on."""
    told: dict[str, object] = {"fields": list(changed)}
    if "includes_content" in changed:
        told["includes_content"] = webhook.includes_content
    return told


def _verb(webhook: Webhook, changed: Sequence[str]) -> str:
    if "is_paused" not in changed:
        return "webhook_changed"
    return "webhook_resumed" if webhook.paused_at is None else "webhook_paused"
