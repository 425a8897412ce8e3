"""Webhooks of tests, and what has become of their deliveries."""

import json
from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from apps.events.enums import EventType
from apps.events.models import Webhook, WebhookDelivery
from apps.tenants.models import Project
from apps.webhooks.services import create_webhook
from tests.event_delivery import deliver_events
from tests.webhook_receiver import Receiver

ALL = list(EventType)


def webhook(project: Project, url: str, *, event_types: Sequence[EventType] = ALL, **values: Any) -> Webhook:
    return create_webhook(
        project_id=project.id, name=values.pop("name", "crm"), url=url, event_types=event_types, **values
    )


def received(receiver: Receiver) -> list[tuple[str, dict[str, Any]]]:
    """Return the type and data of each message, in the order in which they came."""
    bodies = [json.loads(each.body) for each in receiver.requests]
    return [(body["type"], body["data"]) for body in bodies]


def types(receiver: Receiver) -> list[str]:
    return [type_ for type_, _ in received(receiver)]


def deliver_again() -> int:
    """Let time pass until everything that waits is due, and deliver."""
    WebhookDelivery.objects.filter(state="waiting").update(next_try_at=timezone.now())
    Webhook.objects.update(resume_at=timezone.now())
    return deliver_events()


def states() -> list[tuple[str, str, int]]:
    rows = WebhookDelivery.objects.order_by("number", "id")
    return list(rows.values_list("event_type", "state", "attempts"))
