"""Switch the recording of a project's events on or off."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.actions.errors import Conflict
from apps.actions.ledger.record import record
from apps.events.models import EventLog, Webhook


def set_event_log(*, project_id: UUID, is_on: bool) -> EventLog:
    """Record events from now on, or none any more. Raises Conflict for switching off while there are webhooks."""
    with transaction.atomic():
        log = switch_log(project_id=project_id, is_on=is_on)
        if not is_on and Webhook.objects.filter(project_id=project_id).exists():
            raise Conflict("the project has webhooks, which need its events")
    return log


def switch_log(*, project_id: UUID, is_on: bool) -> EventLog:
    """Switch in the caller's transaction; a change is an entry of the ledger."""
    EventLog.objects.bulk_create([EventLog(project_id=project_id, is_on=False)], ignore_conflicts=True)
    log = EventLog.objects.select_for_update(no_key=True).get(project_id=project_id)
    if log.is_on != is_on:
        log.is_on, log.changed_at = is_on, timezone.now()
        log.save(update_fields=["is_on", "changed_at"])
        verb = "events_switched_on" if is_on else "events_switched_off"
        record(project_id=project_id, verb=verb, object_kind="project", object_id=project_id)
    return log
