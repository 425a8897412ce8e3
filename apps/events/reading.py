"""Read the events of a project on from a number, and which webhooks deliver none of them."""

from collections.abc import Collection, Sequence
from uuid import UUID

from django.db.models import Q, QuerySet

from apps.events.models import EventLog, ProjectEvent, Webhook
from apps.pipeline.core.enums import EventType

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


def failing_webhooks() -> QuerySet[Webhook]:
    """Return the webhooks that deliver nothing, or were paused for that; not those that a person has paused."""
    is_failing = Q(paused_at__isnull=True, failing_since__isnull=False)
    return Webhook.objects.filter(is_failing | Q(paused_by=SYSTEM_PAUSE))
