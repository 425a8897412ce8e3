"""Number events and read them, page by page or as a stream."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.events.deliveries import GIVEN_UP_AFTER
from apps.events.enums import EventType
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


SYSTEM_PAUSE = "system"  # who has paused a webhook whose receiver takes nothing


def log_of(*, project_id: UUID) -> EventLog | None:
    """Return the log of a project if its events are recorded."""
    return EventLog.objects.filter(project_id=project_id, is_on=True).first()


def events_after(*, project_id: UUID, after: int, types: Sequence[EventType], limit: int) -> list[ProjectEvent]:
    """Return the first events with a higher number than `after`, of some types or, without any, of all."""
    events = ProjectEvent.objects.filter(project_id=project_id, number__gt=after)
    if types:
        events = events.filter(type__in=types)
    return list(events.order_by("number")[:limit])


def reached(events: Sequence[ProjectEvent], *, limit: int, after: int, last: int) -> int:
    """Return the number to read on from after some events that were read: up to it, there are no others.

    `last` is the project's last number as it was before they were read: more may have been numbered in between.
    """
    newest = (events[-1].number or 0) if events else 0
    return newest if len(events) >= limit else max(after, last, newest)


def last_numbers(*, project_ids: Collection[UUID]) -> dict[UUID, int]:
    """Return the numbers of the last events of some projects."""
    return dict(EventLog.objects.filter(project_id__in=project_ids).values_list("project_id", "last_number"))


@dataclass(frozen=True, slots=True)
class StreamPosition:
    """What one caller follows, and the number of the last event that it has."""

    project_id: UUID
    after: int
    types: tuple[EventType, ...] = ()
    includes_content: bool = False


@dataclass(frozen=True, slots=True)
class StreamPart:
    """Events as text to send (empty: none of the wanted types), and the number up to which that is all."""

    text: bytes
    last: int
