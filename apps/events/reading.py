"""Read the events of a project on from a number."""

from collections.abc import Collection, Sequence
from uuid import UUID

from apps.events.models import EventLog, ProjectEvent
from apps.pipeline.core.enums import EventType


def log_of(*, project_id: UUID) -> EventLog | None:
    """Return the log of a project if its events are recorded."""
    return EventLog.objects.filter(project_id=project_id, is_on=True).first()


def events_after(*, project_id: UUID, after: int, types: Sequence[EventType], limit: int) -> list[ProjectEvent]:
    """Return the first events with a higher number than `after`, of some types or, without any, of all."""
    events = ProjectEvent.objects.filter(project_id=project_id, number__gt=after)
    if types:
        events = events.filter(type__in=types)
    return list(events.order_by("number")[:limit])


def last_numbers(*, project_ids: Collection[UUID]) -> dict[UUID, int]:
    """Return the numbers of the last events of some projects."""
    return dict(EventLog.objects.filter(project_id__in=project_ids).values_list("project_id", "last_number"))
