"""Evaluate the alerts of projects, apply what was decided, and acknowledge."""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from apps.alerts.enums import AlertEvent, AlertState, ProblemCode
from apps.alerts.messages import enqueue_messages
from apps.alerts.models import NOTE_LENGTH, Alert, AlertDelivery, AlertRecipients, SchedulerHeartbeat
from apps.alerts.verdict import COUNTED_FOR, verdict_of
from apps.common.errors import Conflict, Unfit
from apps.common.rows import get_or_refuse
from apps.events.enums import DeliveryState
from apps.memories.ledger.actor import current_actor
from apps.memories.ledger.record import record
from apps.outbox.models import ModelPause, OutboxRow
from apps.pipeline.core.enums import WorkState
from apps.pipeline.core.input_validation import BadInput, cleaned_text
from apps.pipeline.redaction.redact import redact
from apps.telemetry.metrics import request_counts
from apps.tenants.models import Project
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.policies import active_policy
from apps.webhooks.messages import new_secret
from apps.webhooks.services import checked_url

log = structlog.get_logger(__name__)


# How long a trouble must have been absent: longer than the longest pause between two tries of a model (7.5 minutes
# with jitter), so that a model which answers one call in between does not resolve and reopen its alert.
RESOLVE_AFTER = timedelta(minutes=10)
# Alerts that explain late work, also what is left of it after they are mended.
_EXPLAIN_LATE_WORK = frozenset({ProblemCode.MODEL_UNAVAILABLE, ProblemCode.NO_WORKER})


def evaluate_alerts(*, now: datetime | None = None) -> int:
    """Write the heartbeat of the scheduler, and evaluate the projects with work, alerts, recipients or silent models.

    Return how many projects were evaluated.
    """
    moment = now or timezone.now()
    host, oldest = socket.gethostname(), moment - COUNTED_FOR
    # Something could be wrong in these, or they have alerts.
    due = (
        OutboxRow.objects.filter(state__in=[WorkState.PENDING, WorkState.DEAD]),
        ModelPause.objects.all(),
        Alert.objects.unresolved(),
        AlertRecipients.objects.all(),
    )
    with system_scope(SystemWork.SCHEDULE):
        # The scheduler lives, and this is what the processes of this host have counted until now.
        known = SchedulerHeartbeat.objects.filter(host=host).values_list("counts", flat=True).first() or []
        counts = [each for each in known if each[0] >= oldest.timestamp()] + [[moment.timestamp(), *request_counts()]]
        SchedulerHeartbeat.objects.bulk_create(
            [SchedulerHeartbeat(host=host, seen_at=moment, counts=counts)],
            update_conflicts=True,
            unique_fields=["host"],
            update_fields=["seen_at", "counts"],
        )
        SchedulerHeartbeat.objects.filter(seen_at__lt=oldest).delete()
        found = {each for rows in due for each in rows.order_by().values_list("project_id", flat=True).distinct()}
    projects = sorted(found)
    for project_id in projects:
        try:
            with tenant_scope(project_id=project_id):
                evaluate_project(project_id=project_id, now=moment)
        except Exception:  # whatever one project raises, the alerts of the others are evaluated
            log.exception("the alerts of a project could not be evaluated", project=str(project_id))
    return len(projects)


def evaluate_project(*, project_id: UUID, now: datetime) -> bool:
    """Open, keep and resolve the alerts of a project; return False if another process does that now."""
    with transaction.atomic():
        projects = Project.objects.select_for_update(no_key=True, skip_locked=True)
        project = projects.filter(pk=project_id).first()
        if project is None:
            return False
        found = verdict_of(project_id=project_id, now=now, is_archived=project.archived_at is not None)
        known = {(each.kind, each.subject): each for each in Alert.objects.for_project(project_id).unresolved()}
        is_explained = any(kind in _EXPLAIN_LATE_WORK for kind, _ in known)
        for trouble in found.troubles:
            told = {"cause": trouble.cause, "cost": trouble.cost, "figures": dict(trouble.figures), "last_seen_at": now}
            alert = known.pop((trouble.code.value, trouble.subject), None)
            if alert is not None:
                Alert.objects.filter(pk=alert.pk).update(**told)
            elif trouble.is_told(now=now) and not (trouble.code is ProblemCode.WORK_LATE and is_explained):
                opened = Alert.objects.create(
                    project_id=project_id, kind=trouble.code.value, subject=trouble.subject, opened_at=now, **told
                )
                enqueue_messages(alert=opened, event=AlertEvent.OPENED)
        for alert in known.values():
            if now - alert.last_seen_at >= RESOLVE_AFTER:
                alert.state, alert.resolved_at = AlertState.RESOLVED.value, now
                alert.save(update_fields=["state", "resolved_at"])
                enqueue_messages(alert=alert, event=AlertEvent.RESOLVED)
    return True


def acknowledge_alert(*, project_id: UUID, alert_id: UUID, note: str = "") -> Alert:
    """Mark an open alert as acknowledged by the current actor; it stays until its condition is over.

    Raises NotFound, Unfit for a note that is too long, Conflict if it is acknowledged or resolved already.
    """
    try:
        cleaned = cleaned_text(note, at="/note", most=NOTE_LENGTH) if note.strip() else ""
    except BadInput as error:
        raise Unfit(str(error), at=error.at) from error
    told = redact(cleaned, policy=active_policy(project_id=project_id).redaction).text[:NOTE_LENGTH]
    with transaction.atomic():
        alert = get_or_refuse(Alert.objects.select_for_update().filter(project_id=project_id, id=alert_id), "alert")
        if alert.state != AlertState.OPEN:
            raise Conflict(f"the alert is {alert.state} already")
        alert.state, alert.note = AlertState.ACKNOWLEDGED.value, told
        alert.acknowledged_at, alert.acknowledged_by = timezone.now(), current_actor()
        alert.save(update_fields=["state", "note", "acknowledged_at", "acknowledged_by"])
        record("alert_acknowledged", "alert", alert.id, project_id=project_id, details={"kind": alert.kind})
    return alert


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
    if len(mail_addresses) > MOST_MAIL_ADDRESSES:
        raise Unfit(f"must be at most {MOST_MAIL_ADDRESSES} addresses", at="/mail_addresses")
    addresses = list(dict.fromkeys(address.strip() for address in mail_addresses))
    for index, address in enumerate(addresses):
        try:
            forms.EmailField(max_length=254).clean(address)
        except ValidationError as error:
            raise Unfit("is no mail address", at=f"/mail_addresses/{index}") from error
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
            waiting = AlertDelivery.objects.filter(project_id=project_id, state=DeliveryState.WAITING)
            waiting.exclude(recipient__in=[url, *addresses]).update(
                state=DeliveryState.FAILED.value, last_error="no longer a recipient", finished_at=timezone.now()
            )
            details = {"webhook": int(bool(url)), "new_secret": int(bool(secret)), "mail_addresses": len(addresses)}
            record("alert_recipients_set", "project", project_id, project_id=project_id, details=details)
    return RecipientsChange(recipients, secret)
