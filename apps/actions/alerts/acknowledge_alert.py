"""Acknowledge an alert: somebody takes care of it."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.actions.errors import Conflict, NotFound, Unfit
from apps.actions.ledger.actor import current_actor
from apps.actions.ledger.record import record
from apps.alerts.enums import AlertState
from apps.alerts.models import NOTE_LENGTH, Alert
from apps.pipeline.core.input_validation import BadInput, cleaned_text
from apps.pipeline.redaction.redact import redact
from apps.traces.policies import active_policy


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
