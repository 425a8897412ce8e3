"""Open, keep and resolve the alerts of a project as it was decided, and enqueue the messages about them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from apps.actions.alerts.decide import AlertDecisions, AlertFinding, UnresolvedAlert, decide
from apps.actions.alerts.enqueue_messages import enqueue_messages
from apps.actions.alerts.measured import Condition
from apps.actions.alerts.texts import cause_text, cost_text
from apps.alerts.enums import AlertEvent, AlertKind, AlertState
from apps.alerts.models import Alert
from apps.tenants.models import Project


def hold_project(project_id: UUID, *, skip_locked: bool = False) -> Project | None:
    """Let nobody else change the alerts of a project until the transaction ends; return None if somebody does."""
    projects = Project.objects.select_for_update(no_key=True, skip_locked=skip_locked)
    return projects.filter(pk=project_id).first()


def update_alerts(
    *,
    project_id: UUID,
    conditions: Sequence[Condition],
    now: datetime,
    resolve_after: timedelta,
) -> AlertDecisions:
    """Compare the conditions that hold with the project's alerts; the caller's transaction holds the project."""
    alerts = Alert.objects.for_project(project_id).unresolved()
    unresolved = [
        UnresolvedAlert(id=id_, key=(AlertKind(kind), subject), last_seen_at=seen)
        for id_, kind, subject, seen in alerts.values_list("id", "kind", "subject", "last_seen_at")
    ]
    decisions = decide(conditions=conditions, unresolved=unresolved, now=now, resolve_after=resolve_after)
    _apply(project_id, decisions, now)
    return decisions


def _apply(project_id: UUID, decisions: AlertDecisions, now: datetime) -> None:
    for finding in decisions.opened:
        kind, subject = finding.condition.key
        alert = Alert.objects.create(
            project_id=project_id,
            kind=kind.value,
            subject=subject,
            opened_at=now,
            last_seen_at=now,
            **_shown(finding),
        )
        enqueue_messages(alert=alert, event=AlertEvent.OPENED)
    for alert_id, finding in decisions.lasting:
        Alert.objects.filter(id=alert_id).update(last_seen_at=now, **_shown(finding))
    for alert in Alert.objects.filter(id__in=decisions.resolved):
        alert.state, alert.resolved_at = AlertState.RESOLVED.value, now
        alert.save(update_fields=["state", "resolved_at"])
        enqueue_messages(alert=alert, event=AlertEvent.RESOLVED)


def _shown(finding: AlertFinding) -> dict[str, Any]:
    """Return the columns that say what was found."""
    condition = finding.condition
    return {
        "cause": cause_text(condition),
        "cost": cost_text(condition),
        "figures": dict(condition.figures),
        "consequences": [
            {
                "kind": each.kind.value,
                "subject": each.subject,
                "cause": cause_text(each),
                "cost": cost_text(each),
            }
            for each in finding.consequences
        ],
        "window_hours": condition.window_hours,
    }
