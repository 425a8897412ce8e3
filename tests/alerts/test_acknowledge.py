"""An alert is acknowledged once, in the name of whoever did it."""

import pytest

from apps.alerts.enums import AlertState
from apps.alerts.models import NOTE_LENGTH, Alert
from apps.alerts.services import acknowledge_alert
from apps.common.errors import Unfit
from apps.memories.ledger.actor import acting_as
from apps.memories.models import LedgerEntry
from apps.tenants.models import Project
from tests.alerts.alert_rows import alert


def test_an_alert_is_acknowledged_and_the_ledger_says_by_whom(project: Project) -> None:
    opened = alert(project)
    with acting_as("person:7"):
        acknowledge_alert(project_id=project.pk, alert_id=opened.pk, note="on it")
    found = Alert.objects.get()
    assert (found.state, found.acknowledged_by, found.note) == (AlertState.ACKNOWLEDGED, "person:7", "on it")
    entry = LedgerEntry.objects.get(verb="alert_acknowledged")
    assert (entry.actor, entry.object_id) == ("person:7", opened.pk)
    assert "on it" not in str(entry.details)


def test_a_secret_in_a_note_is_masked(project: Project) -> None:
    found = acknowledge_alert(project_id=project.pk, alert_id=alert(project).pk, note="My password is hunter2zulu9.")
    found.refresh_from_db()
    assert found.note == "My password is [secret:password]."


def test_a_note_has_a_limit(project: Project) -> None:
    with pytest.raises(Unfit):
        acknowledge_alert(project_id=project.pk, alert_id=alert(project).pk, note="n" * (NOTE_LENGTH + 1))
