"""Give committed events their numbers, and create the deliveries to the webhooks that want them.

One transaction at a time numbers the events of a project, so numbers become visible in their order: who reads on from a
number misses nothing that a slower transaction commits later.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from apps.events.delivery_times import GIVEN_UP_AFTER
from apps.events.models import EventLog, ProjectEvent, Webhook, WebhookDelivery

AT_ONCE = 1_000  # events in one transaction

_NUMBER = """
with found as (
    select id, %(last)s + row_number() over (order by id) as number
    from (select id from events_projectevent where project_id = %(project)s and number is null
          order by id limit %(most)s) unnumbered
)
update events_projectevent event set number = found.number from found
where event.project_id = %(project)s and event.id = found.id
returning event.id, event.number, event.type, event.end_user_id
"""


@dataclass(frozen=True, slots=True)
class _Numbered:
    """An event that has just got its number."""

    id: int
    number: int
    type: str
    end_user_id: UUID | None


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
        with connection.cursor() as cursor:
            cursor.execute(_NUMBER, {"project": project_id, "last": log.last_number, "most": AT_ONCE})
            numbered = sorted((_Numbered(*row) for row in cursor.fetchall()), key=lambda each: each.number)
        if numbered:
            _create_deliveries(project_id, numbered)
            EventLog.objects.filter(project_id=project_id).update(last_number=numbered[-1].number)
    return len(numbered)


def _create_deliveries(project_id: UUID, numbered: Iterable[_Numbered]) -> None:
    webhooks = [(each.id, set(each.event_types)) for each in Webhook.objects.filter(project_id=project_id)]
    give_up_at = timezone.now() + GIVEN_UP_AFTER
    WebhookDelivery.objects.bulk_create(
        WebhookDelivery(
            project_id=project_id,
            webhook_id=webhook_id,
            event_id=event.id,
            end_user_id=event.end_user_id,
            event_type=event.type,
            number=event.number,
            give_up_at=give_up_at,
        )
        for event in numbered
        for webhook_id, types in webhooks
        if event.type in types
    )
