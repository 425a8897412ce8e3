"""Give committed events their numbers, and create the deliveries to the webhooks that want them.

One transaction at a time numbers the events of a project, so numbers become visible in their order: who reads on from a
number misses nothing that a slower transaction commits later.
"""

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.events.delivery_times import GIVEN_UP_AFTER
from apps.events.models import EventLog, ProjectEvent, Webhook, WebhookDelivery

AT_ONCE = 1_000  # events in one transaction
ROWS_PER_UPDATE = 200  # the time of Django's bulk_update grows with the square of this


def projects_with_news() -> list[UUID]:
    """Return the projects with events that have no number yet; in the scope of the system, of all projects."""
    unnumbered = ProjectEvent.objects.filter(number__isnull=True).order_by()
    return list(unnumbered.values_list("project_id", flat=True).distinct())


def number_events(*, project_id: UUID) -> int:
    """Number the events of a project that were committed since; return how many, 0 if another process does it now."""
    with transaction.atomic():
        logs = EventLog.objects.select_for_update(skip_locked=True, no_key=True)
        log = logs.filter(project_id=project_id).first()
        if log is None:
            return 0
        # The locks make an erasure of an end user wait, so that it finds the deliveries of these events.
        unnumbered = ProjectEvent.objects.select_for_update(no_key=True).filter(
            project_id=project_id, number__isnull=True
        )
        events = list(unnumbered.order_by("id")[:AT_ONCE])
        if events:
            for number, event in enumerate(events, log.last_number + 1):
                event.number = number
            ProjectEvent.objects.bulk_update(events, ["number"], batch_size=ROWS_PER_UPDATE)
            _create_deliveries(project_id, events)
            log.last_number += len(events)
            log.save(update_fields=["last_number"])
    return len(events)


def _create_deliveries(project_id: UUID, events: Iterable[ProjectEvent]) -> None:
    webhooks = [(each.id, set(each.event_types)) for each in Webhook.objects.filter(project_id=project_id)]
    give_up_at = timezone.now() + GIVEN_UP_AFTER
    WebhookDelivery.objects.bulk_create(
        WebhookDelivery(
            project_id=project_id,
            webhook_id=webhook_id,
            event_id=event.id,
            end_user_id=event.end_user_id,
            event_type=event.type,
            number=event.number or 0,
            give_up_at=give_up_at,
        )
        for event in events
        for webhook_id, types in webhooks
        if event.type in types
    )
