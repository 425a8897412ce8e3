"""Number the events of all projects, and deliver what is due at their webhooks."""

from datetime import timedelta
from uuid import UUID

import structlog
from django.conf import settings

from apps.actions.webhooks.deliver_webhook import Stop, deliver_webhook
from apps.events.leases import claim_webhooks
from apps.events.numbering import number_events, projects_with_news
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope

log = structlog.get_logger(__name__)

SLICE = timedelta(seconds=5)  # of one webhook at a time, so that others get their turn
SPARE = timedelta(seconds=15)  # with this and a timeout, a process that has claimed a webhook has died


def number_all_events() -> int:
    """Number the new events of each project; return how many."""
    with system_scope(SystemWork.SCHEDULE):
        projects = projects_with_news()
    numbered = 0
    for project_id in projects:
        try:
            with tenant_scope(project_id=project_id):
                numbered += number_events(project_id=project_id)
        except Exception:  # whatever one project raises, the others get their numbers; this one is tried again
            log.exception("the events of a project could not be numbered", project=str(project_id))
    return numbered


def claim(*, most: int) -> list[tuple[UUID, UUID]]:
    """Claim some webhooks with due deliveries; return each with its project."""
    with system_scope(SystemWork.SCHEDULE):
        return claim_webhooks(most=most, seconds=(SLICE + SPARE).total_seconds() + settings.WEBHOOK_TIMEOUT_SECONDS)


def deliver_claimed(webhook_id: UUID, project_id: UUID, *, stop: Stop = lambda: False) -> int:
    """Deliver at a webhook that this process has claimed; return how many deliveries were taken."""
    try:
        with tenant_scope(project_id=project_id):
            return deliver_webhook(webhook_id=webhook_id, most=SLICE, stop=stop)
    except Exception:  # one webhook that is at fault must not hold up the others
        log.exception("a webhook could not be delivered", webhook=str(webhook_id))
        return 0
