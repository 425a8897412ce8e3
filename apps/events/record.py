"""Record events, also those of a plan of the pipeline."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from apps.events.enums import EventType
from apps.events.models import EventLog, ProjectEvent
from apps.outbox.queue_task import wake_workers
from apps.pipeline.core.enums import LinkStatus, Status
from apps.pipeline.core.operations import (
    AddMemory,
    LinkMemories,
    MergeInto,
    ReviseMemory,
    SetLinkStatus,
    SupersedeMemory,
)
from apps.pipeline.core.plan import WritePlan


def record_event(
    *,
    project_id: UUID,
    type: EventType,
    end_user_id: UUID | None = None,
    trace_id: UUID | None = None,
    memory_id: UUID | None = None,
    details: Mapping[str, Any],
) -> None:
    """Record one event in the caller's transaction; `details` hold identifiers, states and numbers, no content."""
    if not EventLog.objects.filter(project_id=project_id, is_on=True).exists():
        return
    ProjectEvent.objects.create(
        project_id=project_id,
        end_user_id=end_user_id,
        type=type,
        trace_id=trace_id,
        memory_id=memory_id,
        details=dict(details),
        created_at=Now(),
    )
    transaction.on_commit(wake_workers)


# The verbs by which a person decides about a memory that waits for review.
DECISIONS = frozenset({"approved", "kept", "took_over", "rejected"})

_OF_CLOSED = {
    Status.SUPERSEDED: EventType.MEMORY_SUPERSEDED,
    Status.MERGED: EventType.MEMORY_MERGED,
    Status.REJECTED: EventType.MEMORY_REJECTED,
    Status.RETRACTED: EventType.MEMORY_RETRACTED,
    Status.ARCHIVED: EventType.MEMORY_ARCHIVED,
}


@dataclass(frozen=True, slots=True)
class PlannedEvent:
    """An event about a memory and, for links and closed memories, another one.

    `verb` is that of the history, the kind of a link, or how the link was settled.
    """

    type: EventType
    memory_id: UUID
    verb: str
    other_id: UUID | None = None


def events_of_plan(plan: WritePlan) -> Iterator[PlannedEvent]:
    """Yield the events in the order in which the plan is applied."""
    for operation in plan.operations:
        match operation:
            case AddMemory():
                yield from _of_new(operation)
            case MergeInto():
                yield PlannedEvent(EventType.MEMORY_UPDATED, operation.memory_id, "merged")
            case SupersedeMemory():
                yield PlannedEvent(
                    EventType.MEMORY_SUPERSEDED, operation.memory_id, "superseded", operation.superseded_by
                )
            case ReviseMemory():
                yield from _of_revision(operation)
            case LinkMemories() | SetLinkStatus():
                yield _of_link(operation)


def _of_new(added: AddMemory) -> Iterator[PlannedEvent]:
    yield PlannedEvent(EventType.MEMORY_CREATED, added.memory_id, "added")
    if added.status is Status.PENDING_REVIEW:
        yield PlannedEvent(EventType.REVIEW_NEEDED, added.memory_id, "added")


def _of_revision(revised: ReviseMemory) -> Iterator[PlannedEvent]:
    given = revised.changes.get("status")
    status = None if given is None else Status(given)
    yield PlannedEvent(_type_of(status, revised.verb), revised.memory_id, revised.verb)
    if revised.verb in DECISIONS:
        yield PlannedEvent(EventType.REVIEW_DECIDED, revised.memory_id, revised.verb)
    elif status is Status.PENDING_REVIEW:
        yield PlannedEvent(EventType.REVIEW_NEEDED, revised.memory_id, revised.verb)


def _type_of(status: Status | None, verb: str) -> EventType:
    if status in _OF_CLOSED:
        return _OF_CLOSED[status]
    is_opened_again = status is Status.ACTIVE and verb not in DECISIONS
    return EventType.MEMORY_RESTORED if is_opened_again else EventType.MEMORY_UPDATED


def _of_link(link: LinkMemories | SetLinkStatus) -> PlannedEvent:
    if isinstance(link, SetLinkStatus) and link.status is LinkStatus.SETTLED:
        return PlannedEvent(EventType.REVIEW_DECIDED, link.from_id, link.resolution, link.to_id)
    return PlannedEvent(EventType.REVIEW_NEEDED, link.from_id, link.kind.value, link.to_id)
