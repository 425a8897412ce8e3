"""Webhooks and their deliveries as pages show them."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q

from apps.console.selectors.people import names_of
from apps.events.enums import DeliveryState, EventType
from apps.events.models import Webhook, WebhookDelivery
from apps.events.querysets import WebhookDeliveryQuerySet


@dataclass(frozen=True, slots=True)
class ListedWebhook:
    """A webhook with who made and paused it, what it does now, and how much waits and has failed."""

    webhook: Webhook
    owner: str
    paused_by: str
    state: str
    waiting: int
    failed: int


def listed_webhooks(*, project_id: UUID) -> list[ListedWebhook]:
    """Return the webhooks of a project by name, in three statements."""
    webhooks = list(Webhook.objects.filter(project_id=project_id))
    counts = _counts([each.id for each in webhooks])
    names = names_of(actor for each in webhooks for actor in (each.created_by, each.paused_by) if actor)
    listed = []
    for webhook in webhooks:
        waiting, failed = counts.get(webhook.id, (0, 0))
        state = "paused" if webhook.paused_at else "failing" if webhook.failing_since else "on"
        owner, paused_by = (names.get(each, each) for each in (webhook.created_by, webhook.paused_by))
        listed.append(ListedWebhook(webhook, owner, paused_by, state, waiting=waiting, failed=failed))
    return listed


def _counts(webhooks: Sequence[UUID]) -> dict[UUID, tuple[int, int]]:
    """Return how many deliveries of each webhook wait and have failed."""
    waiting, failed = Q(state=DeliveryState.WAITING), Q(state=DeliveryState.FAILED)
    open_ones = WebhookDelivery.objects.filter(waiting | failed, webhook_id__in=webhooks)
    counted = open_ones.order_by().values_list("webhook_id")
    rows = counted.annotate(waiting=Count("id", filter=waiting), failed=Count("id", filter=failed))
    return {webhook_id: (waiting_now, failed_ones) for webhook_id, waiting_now, failed_ones in rows}


def deliveries_by(*, webhook_id: UUID, state: str, event_type: str) -> WebhookDeliveryQuerySet:
    """Return deliveries of a state and a type, newest first; a filter that names none is left out."""
    states = [state] if state in set(DeliveryState) else []
    types = [event_type] if event_type in set(EventType) else []
    return WebhookDelivery.objects.of_webhook(webhook_id).matching(states=states, types=types)
