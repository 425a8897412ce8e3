"""Record events, also those of a plan of the pipeline; number them once they are committed, and create deliveries."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from apps.events.enums import EventType
from apps.events.models import EventLog, ProjectEvent, Webhook, WebhookDelivery
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
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope


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


AT_ONCE = 1_000  # events in one transaction
ROWS_PER_UPDATE = 200  # the time of Django's bulk_update grows with the square of this
GIVEN_UP_AFTER = timedelta(days=3)  # counted from when a delivery was due first

log = structlog.get_logger(__name__)


def number_all_events() -> int:
    """Number the new events of each project; return how many."""
    unnumbered = ProjectEvent.objects.filter(number__isnull=True).order_by()
    with system_scope(SystemWork.SCHEDULE):
        projects = list(unnumbered.values_list("project_id", flat=True).distinct())
    numbered = 0
    for project_id in projects:
        try:
            with tenant_scope(project_id=project_id), transaction.atomic():
                numbered += _number_events(project_id)
        except Exception:  # whatever one project raises, the others get their numbers; this one is tried again
            log.exception("the events of a project could not be numbered", project=str(project_id))
    return numbered


def _number_events(project_id: UUID) -> int:
    """Number the events of a project, and create their deliveries; return 0 if another process does it now."""
    logs = EventLog.objects.select_for_update(skip_locked=True, no_key=True)
    event_log = logs.filter(project_id=project_id).first()
    if event_log is None:
        return 0
    # The locks make an erasure of an end user wait, so that it finds the deliveries of these events.
    unnumbered = ProjectEvent.objects.select_for_update(no_key=True).filter(project_id=project_id, number__isnull=True)
    events = list(unnumbered.order_by("id")[:AT_ONCE])
    for event in events:
        event_log.last_number += 1
        event.number = event_log.last_number
    ProjectEvent.objects.bulk_update(events, ["number"], batch_size=ROWS_PER_UPDATE)
    event_log.save(update_fields=["last_number"])
    webhooks = list(Webhook.objects.filter(project_id=project_id))
    give_up_at = timezone.now() + GIVEN_UP_AFTER
    WebhookDelivery.objects.bulk_create(
        WebhookDelivery(
            project_id=project_id,
            webhook=webhook,
            event=event,
            end_user_id=event.end_user_id,
            event_type=event.type,
            number=event.number or 0,
            give_up_at=give_up_at,
        )
        for event in events
        for webhook in webhooks
        if event.type in webhook.event_types
    )
    return len(events)
