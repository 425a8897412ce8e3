"""Number events once they are committed, and create their deliveries."""

from datetime import timedelta
from uuid import UUID

import structlog
from django.db import transaction
from django.utils import timezone

from apps.events.models import EventLog, ProjectEvent, Webhook, WebhookDelivery
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope

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
