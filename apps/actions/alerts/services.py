"""Evaluate the alerts of projects, apply what was decided, and acknowledge."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from apps.actions.alerts.messages import enqueue_messages
from apps.actions.alerts.trouble import Trouble, troubles_of
from apps.actions.errors import Conflict, NotFound, Unfit
from apps.actions.ledger.actor import current_actor
from apps.actions.ledger.record import record
from apps.actions.webhooks.messages import new_secret
from apps.actions.webhooks.services import checked_url
from apps.alerts.enums import AlertEvent, AlertKind, AlertState
from apps.alerts.models import NOTE_LENGTH, Alert, AlertDelivery, AlertRecipients
from apps.events.enums import DeliveryState
from apps.events.read import failing_webhooks
from apps.outbox.models import ModelPause, OutboxRow
from apps.pipeline.core.enums import WorkState
from apps.pipeline.core.input_validation import BadInput, cleaned_text
from apps.pipeline.redaction.redact import redact
from apps.tenants.models import Project
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.policies import active_policy

log = structlog.get_logger(__name__)


# How long a trouble must have been absent: longer than the longest pause between two tries of a model (7.5 minutes
# with jitter), so that a model which answers one call in between does not resolve and reopen its alert.
RESOLVE_AFTER = timedelta(minutes=10)
# Alerts that explain late work, also what is left of it after they are mended.
_EXPLAIN_LATE_WORK = frozenset({AlertKind.MODEL_UNAVAILABLE, AlertKind.EMBEDDER_UNAVAILABLE, AlertKind.NO_WORKER})


def evaluate_alerts(*, now: datetime | None = None) -> int:
    """Evaluate the projects with work, alerts, or silent models and receivers; return how many."""
    moment = now or timezone.now()
    projects = _projects_to_watch()
    for project_id in projects:
        try:
            with tenant_scope(project_id=project_id):
                evaluate_project(project_id=project_id, now=moment)
        except Exception:  # whatever one project raises, the alerts of the others are evaluated
            log.exception("the alerts of a project could not be evaluated", project=str(project_id))
    return len(projects)


def evaluate_project(*, project_id: UUID, now: datetime, resolve_after: timedelta = RESOLVE_AFTER) -> bool:
    """Open, keep and resolve the alerts of a project; return False if another process does that now."""
    with transaction.atomic():
        project = hold_project(project_id, skip_locked=True)
        if project is None:
            return False
        troubles = troubles_of(project_id=project_id, now=now, is_archived=project.archived_at is not None)
        update_alerts(project_id=project_id, troubles=troubles, now=now, resolve_after=resolve_after)
    return True


def _projects_to_watch() -> list[UUID]:
    """Return the projects in which something could be wrong, or that have alerts."""
    due = (
        OutboxRow.objects.filter(state__in=[WorkState.PENDING, WorkState.DEAD]),
        ModelPause.objects.all(),
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
    *, project_id: UUID, troubles: Sequence[Trouble], now: datetime, resolve_after: timedelta = RESOLVE_AFTER
) -> None:
    """Compare what is wrong with the project's alerts; the caller's transaction holds the project."""
    known = {(each.kind, each.subject): each for each in Alert.objects.for_project(project_id).unresolved()}
    is_explained = any(kind in _EXPLAIN_LATE_WORK for kind, _ in known)
    for trouble in troubles:
        told = {"cause": trouble.cause, "cost": trouble.cost, "figures": dict(trouble.figures), "last_seen_at": now}
        alert = known.pop((trouble.kind.value, trouble.subject), None)
        if alert is not None:
            Alert.objects.filter(pk=alert.pk).update(**told)
        elif trouble.is_told(now=now) and not (trouble.kind is AlertKind.QUEUE_AGE and is_explained):
            opened = Alert.objects.create(
                project_id=project_id, kind=trouble.kind.value, subject=trouble.subject, opened_at=now, **told
            )
            enqueue_messages(alert=opened, event=AlertEvent.OPENED)
    for alert in known.values():
        if now - alert.last_seen_at >= resolve_after:
            alert.state, alert.resolved_at = AlertState.RESOLVED.value, now
            alert.save(update_fields=["state", "resolved_at"])
            enqueue_messages(alert=alert, event=AlertEvent.RESOLVED)


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
