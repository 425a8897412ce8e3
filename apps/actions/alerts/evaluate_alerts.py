"""Open, keep and resolve the alerts of all projects, once a minute."""

from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.db import transaction
from django.utils import timezone

from apps.actions.alerts.apply_decisions import hold_project, update_alerts
from apps.actions.alerts.conditions import conditions_of
from apps.actions.alerts.decide import RESOLVE_AFTER
from apps.actions.alerts.measure import hours_until, measure
from apps.actions.evaluation.read_figures import LATEST_WEEKS, first_week
from apps.alerts.models import Alert
from apps.events.reading import failing_webhooks
from apps.memories.models import EvaluationSample
from apps.outbox.models import ModelPause, OutboxRow
from apps.pipeline.core.enums import WorkState
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import HourlyTally

log = structlog.get_logger(__name__)


def evaluate_alerts(*, now: datetime | None = None) -> int:
    """Evaluate the projects with recent traffic or samples, work, alerts, or silent models and receivers.

    Returns how many.
    """
    moment = now or timezone.now()
    projects = _projects_to_watch(moment)
    for project_id in projects:
        try:
            with tenant_scope(project_id=project_id):
                evaluate_project(project_id=project_id, now=moment)
        except Exception:  # whatever one project raises, the alerts of the others are evaluated
            log.exception("the alerts of a project could not be evaluated", project=str(project_id))
    return len(projects)


def evaluate_project(*, project_id: UUID, now: datetime, resolve_after: timedelta = RESOLVE_AFTER) -> bool:
    """Evaluate one project; return False if another process does that now."""
    with transaction.atomic():
        project = hold_project(project_id, skip_locked=True)
        if project is None:
            return False
        # In an archived project nothing is wrong: its work rests on purpose.
        conditions = [] if project.archived_at else conditions_of(measure(project_id=project.pk, now=now))
        update_alerts(project_id=project_id, conditions=conditions, now=now, resolve_after=resolve_after)
    return True


def _projects_to_watch(now: datetime) -> list[UUID]:
    """Return the projects that could have a condition for an alert, or have alerts."""
    due = (
        HourlyTally.objects.filter(hour__gte=hours_until(now)[0]),
        OutboxRow.objects.filter(state__in=[WorkState.PENDING, WorkState.DEAD]),
        ModelPause.objects.all(),
        EvaluationSample.objects.filter(week__gte=first_week(LATEST_WEEKS)),
        Alert.objects.unresolved(),
        failing_webhooks(),
    )
    with system_scope(SystemWork.SCHEDULE):
        found = {each for rows in due for each in rows.order_by().values_list("project_id", flat=True).distinct()}
    return sorted(found)
