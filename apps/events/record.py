"""Record events, also those of a plan of the pipeline."""

from collections.abc import Iterator
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from apps.events.enums import EventType
from apps.events.models import EventLog, ProjectEvent
from apps.outbox.enqueue import wake_workers
from apps.pipeline.core.enums import LIVE_STATUSES, LinkStatus, Status
from apps.pipeline.core.operations import (
    AddMemory,
    LinkMemories,
    MergeInto,
    ReviseMemory,
    SetLinkStatus,
    SupersedeMemory,
)
from apps.pipeline.core.plan import WritePlan


def record_event(*, project_id: UUID, **values: Any) -> None:
    """Record one event in the caller's transaction; `details` hold identifiers, states and numbers, no content."""
    if EventLog.objects.filter(project_id=project_id, is_on=True).exists():
        ProjectEvent.objects.create(project_id=project_id, created_at=Now(), **values)
        transaction.on_commit(wake_workers)


DECISIONS = frozenset({"approved", "kept", "took_over", "rejected"})  # verbs of a person about a memory in review


class PlannedEvent(NamedTuple):
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
            case MergeInto(memory_id=memory_id):
                yield PlannedEvent(EventType.MEMORY_UPDATED, memory_id, "merged")
            case SupersedeMemory(memory_id=memory_id):
                yield PlannedEvent(EventType.MEMORY_SUPERSEDED, memory_id, "superseded", operation.superseded_by)
            case ReviseMemory():
                yield from _of_revision(operation)
            case SetLinkStatus(status=LinkStatus.SETTLED):
                yield PlannedEvent(EventType.REVIEW_DECIDED, operation.from_id, operation.resolution, operation.to_id)
            case LinkMemories() | SetLinkStatus():
                yield PlannedEvent(EventType.REVIEW_NEEDED, operation.from_id, operation.kind.value, operation.to_id)


def _of_new(added: AddMemory) -> Iterator[PlannedEvent]:
    yield PlannedEvent(EventType.MEMORY_CREATED, added.memory_id, "added")
    if added.status is Status.PENDING_REVIEW:
        yield PlannedEvent(EventType.REVIEW_NEEDED, added.memory_id, "added")


def _of_revision(revised: ReviseMemory) -> Iterator[PlannedEvent]:
    status, verb, type_ = revised.changes.get("status"), revised.verb, EventType.MEMORY_UPDATED
    if status and status not in LIVE_STATUSES:
        type_ = EventType(f"memory.{status}")
    elif status == Status.ACTIVE and verb not in DECISIONS:
        type_ = EventType.MEMORY_RESTORED
    yield PlannedEvent(type_, revised.memory_id, verb)
    if verb in DECISIONS:
        yield PlannedEvent(EventType.REVIEW_DECIDED, revised.memory_id, verb)
    elif status == Status.PENDING_REVIEW:
        yield PlannedEvent(EventType.REVIEW_NEEDED, revised.memory_id, verb)
