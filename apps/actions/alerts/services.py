"""Evaluate the alerts of projects, apply what was decided, and acknowledge."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from apps.actions.alerts.conditions import (
    RESOLVE_AFTER,
    AlertDecisions,
    AlertFinding,
    Condition,
    UnresolvedAlert,
    conditions_of,
    decide,
)
from apps.actions.alerts.measure import hours_until, measure
from apps.actions.alerts.messages import enqueue_messages
from apps.actions.alerts.texts import cause_text, cost_text
from apps.actions.errors import Conflict, NotFound, Unfit
from apps.actions.evaluation.figures import LATEST_WEEKS, first_week
from apps.actions.ledger.actor import current_actor
from apps.actions.ledger.record import record
from apps.actions.webhooks.messages import new_secret
from apps.actions.webhooks.services import checked_url
from apps.alerts.enums import AlertEvent, AlertKind, AlertState
from apps.alerts.models import NOTE_LENGTH, Alert, AlertDelivery, AlertRecipients
from apps.events.read import failing_webhooks
from apps.memories.models import EvaluationSample
from apps.outbox.models import ModelPause, OutboxRow
from apps.pipeline.core.enums import DeliveryState, WorkState
from apps.pipeline.core.input_validation import BadInput, cleaned_text
from apps.pipeline.redaction.redact import redact
from apps.tenants.models import Project
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import HourlyTally
from apps.traces.policies import active_policy

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


def acknowledge_alert(*, project_id: UUID, alert_id: UUID, note: str = "") -> Alert:
    """Mark an open alert as acknowledged by the current actor; it stays until its condition is over.

    Raises NotFound, Unfit for a note that is too long, Conflict if it is acknowledged or resolved already.
    """
    told = redact(_cleaned(note), policy=active_policy(project_id=project_id).redaction).text[:NOTE_LENGTH]
    with transaction.atomic():
        alert = Alert.objects.select_for_update().filter(project_id=project_id, id=alert_id).first()
        if alert is None:
            raise NotFound("there is no such alert")
        if alert.state != AlertState.OPEN:
            raise Conflict(f"the alert is {alert.state} already")
        alert.state, alert.note = AlertState.ACKNOWLEDGED.value, told
        alert.acknowledged_at, alert.acknowledged_by = timezone.now(), current_actor()
        alert.save(update_fields=["state", "note", "acknowledged_at", "acknowledged_by"])
        details = {"kind": alert.kind}
        record(
            project_id=project_id, verb="alert_acknowledged", object_kind="alert", object_id=alert.id, details=details
        )
    return alert


def _cleaned(note: str) -> str:
    if not note.strip():
        return ""
    try:
        return cleaned_text(note, at="/note", most=NOTE_LENGTH)
    except BadInput as error:
        raise Unfit(str(error), at=error.at) from error


MOST_MAIL_ADDRESSES = 20


@dataclass(frozen=True, slots=True)
class RecipientsChange:
    """The recipients of a project; `secret` is that of the webhook if it was just made, and is shown only once."""

    recipients: AlertRecipients
    secret: str = ""


def set_recipients(
    *, project_id: UUID, webhook_url: str, mail_addresses: Sequence[str], renew_secret: bool = False
) -> RecipientsChange:
    """Replace the recipients; messages that wait for a former one are given up. Raises Unfit.

    The first webhook gets a new secret, another one with `renew_secret`; without a webhook the secret is deleted.
    """
    url = checked_url(webhook_url.strip(), at="/webhook_url") if webhook_url.strip() else ""
    addresses = _checked_addresses(mail_addresses)
    with transaction.atomic():
        AlertRecipients.objects.bulk_create([AlertRecipients(project_id=project_id)], ignore_conflicts=True)
        recipients = AlertRecipients.objects.select_for_update().get(project_id=project_id)
        before = (recipients.webhook_url, recipients.webhook_secret, recipients.mail_addresses)
        recipients.webhook_url, recipients.mail_addresses = url, addresses
        secret = new_secret() if url and (renew_secret or not recipients.webhook_secret) else ""
        recipients.webhook_secret = (secret or recipients.webhook_secret) if url else ""
        if before != (url, recipients.webhook_secret, addresses):
            recipients.changed_at = timezone.now()
            recipients.save()
            _give_up_others(recipients)
            details = {"webhook": int(bool(url)), "new_secret": int(bool(secret)), "mail_addresses": len(addresses)}
            record(
                project_id=project_id,
                verb="alert_recipients_set",
                object_kind="project",
                object_id=project_id,
                details=details,
            )
    return RecipientsChange(recipients, secret)


def _give_up_others(recipients: AlertRecipients) -> None:
    waiting = AlertDelivery.objects.filter(project_id=recipients.project_id, state=DeliveryState.WAITING)
    current = [recipients.webhook_url, *recipients.mail_addresses]
    waiting.exclude(recipient__in=current).update(
        state=DeliveryState.FAILED.value, last_error="no longer a recipient", finished_at=timezone.now()
    )


def _checked_addresses(addresses: Sequence[str]) -> list[str]:
    """Return mail addresses, each once. Raises Unfit."""
    if len(addresses) > MOST_MAIL_ADDRESSES:
        raise Unfit(f"must be at most {MOST_MAIL_ADDRESSES} addresses", at="/mail_addresses")
    found = list(dict.fromkeys(address.strip() for address in addresses))
    for index, address in enumerate(found):
        try:
            validate_email(address)
        except ValidationError as error:
            raise Unfit("is no mail address", at=f"/mail_addresses/{index}") from error
        if len(address) > 254:
            raise Unfit("is no mail address", at=f"/mail_addresses/{index}")
    return found
