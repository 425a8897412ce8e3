"""Record events in the transaction of the change that they are about, where the project keeps events."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from apps.events.models import EventLog, ProjectEvent
from apps.outbox.queue_task import wake_workers
from apps.pipeline.core.enums import EventType


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
