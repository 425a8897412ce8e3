"""Retention: data beyond the retention period is deleted, memories stay."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from pydantic import ValidationError

from apps.alerts.enums import AlertState
from apps.alerts.models import Alert, AlertDelivery
from apps.memories.models import LedgerEntry, Memory, MemoryOrigin
from apps.outbox.models import JobRound, OutboxRow
from apps.pipeline.core.policy import Policy, RetentionPolicy
from apps.privacy.apply_retention import apply_retention, continue_retention
from apps.projects.services import configure
from apps.tenants.models import Project
from apps.traces.models import ModelCall, Span, Trace, Turn
from tests.alerts.alert_rows import alert
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db
A_MINUTE, NO_TIME = timedelta(minutes=1), timedelta(0)


@pytest.fixture
def ana(project: Project) -> Person:
    """An end user with two old turns, one of which became a memory, and a turn of today."""
    ana = Person(project)
    ana.says("I live in Lisbon.", "ok")
    ana.says("Good morning!", "thanks")
    ana.is_worked_for()
    Trace.objects.update(created_at=timezone.now() - timedelta(days=40))
    ana.says("My sister is called Marta.")
    ana.is_worked_for()
    for trace in Trace.objects.all():
        ModelCall.objects.create(
            end_user_id=ana.id,
            trace=trace,
            purpose="extract",
            request_hash="0",
            model="m",
            prompt_version="1",
            answer="a",
        )
    return ana


def keep(project: Project, **days: int) -> None:
    configure(project_id=project.id, policy=Policy(retention=RetentionPolicy(**days)))


def texts() -> list[str]:
    return sorted(Turn.objects.values_list("content", flat=True))


def test_by_default_detail_is_kept_for_90_days_and_texts_and_memories_for_ever(project: Project, ana: Person) -> None:
    before = (texts(), Span.objects.count(), ModelCall.objects.count())
    assert apply_retention(most=A_MINUTE) == 0
    assert (texts(), Span.objects.count(), ModelCall.objects.count()) == before

    memories, today = ana.memories(), timezone.now() - timedelta(days=1)
    Trace.objects.filter(created_at__lt=today).update(created_at=timezone.now() - timedelta(days=91))
    apply_retention(most=A_MINUTE)
    assert (texts(), ana.memories()) == (before[0], memories)
    for kept in (Span, ModelCall):
        assert 0 < kept.objects.count() == kept.objects.filter(trace__created_at__gte=today).count()


def test_old_turns_lose_their_texts_and_memories_stay(project: Project, ana: Person) -> None:
    memories = ana.memories()
    keep(project, turn_days=30)

    apply_retention(most=A_MINUTE)

    assert texts() == ["", "My sister is called Marta."]
    assert ana.memories() == memories
    assert MemoryOrigin.objects.filter(evidence__contains="Lisbon").exists()
    assert LedgerEntry.objects.get(verb="retention_applied").details["rows"]["turns"] == 4


def test_old_model_calls_are_deleted(project: Project, ana: Person) -> None:
    keep(project, model_call_days=30)
    apply_retention(most=A_MINUTE)
    assert ModelCall.objects.count() == 1
    assert Trace.objects.count() == 3


def test_old_traces_lose_their_stages_and_go_where_nothing_refers_to_them(project: Project, ana: Person) -> None:
    keep(project, turn_days=30, trace_days=30)

    apply_retention(most=A_MINUTE)

    old, new = Trace.objects.order_by("created_at")
    assert (old.outcomes, old.plan) == ([], [])
    assert not old.spans.exists()
    assert Memory.objects.filter(trace=old).exists()
    assert new.outcomes != []
    assert new.spans.exists()


def test_traces_that_still_wait_are_kept(project: Project, ana: Person) -> None:
    ana.says("I work as a nurse.")
    Trace.objects.filter(status="queued").update(created_at=timezone.now() - timedelta(days=40))
    keep(project, turn_days=30, trace_days=30)

    apply_retention(most=A_MINUTE)
    ana.is_worked_for()

    assert any("nurse" in memory for memory in ana.memories())
    assert not OutboxRow.objects.exclude(state="done").filter(kind="run_pipeline").exists()


def test_it_goes_on_where_it_was(project: Project, ana: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part does one step; no trace is looked at twice, and one entry of the ledger has the sum."""
    monkeypatch.setattr("apps.privacy.apply_retention.AT_ONCE", 1)
    keep(project, turn_days=30, model_call_days=30)

    changed = [apply_retention(most=NO_TIME)]
    while not JobRound.objects.filter(finished_at__isnull=False).exists():
        changed.append(continue_retention(most=NO_TIME))

    old = Trace.objects.filter(created_at__lt=timezone.now() - timedelta(days=30)).count()
    assert len(changed) == 2 * old + 2  # one for the ledger, and the last finds nothing
    assert LedgerEntry.objects.get(verb="retention_applied").details["rows"] == {
        "turns": 4,
        "model_calls": 2,
        "alerts": 0,
    }
    assert continue_retention(most=A_MINUTE) == 0


@pytest.mark.parametrize(("days", "fits"), [(0, True), (29, False), (30, True)])
def test_the_ledger_is_kept_for_at_least_thirty_days(days: int, fits: bool) -> None:
    if fits:
        assert RetentionPolicy(ledger_days=days).ledger_days == days
    else:
        with pytest.raises(ValidationError):
            RetentionPolicy(ledger_days=days)


def test_resolved_alerts_go_with_their_messages_after_their_period(project: Project) -> None:
    now = timezone.now()
    for name, days in (("old", 366), ("new", 364)):
        ended = now - timedelta(days=days)
        over = alert(project, subject=name, state=AlertState.RESOLVED, resolved_at=ended, opened_at=ended)
        AlertDelivery.objects.create(project=project, alert=over, event="opened", channel="mail", recipient=name)
    alert(project, subject="open", opened_at=now - timedelta(days=999))

    assert apply_retention(most=A_MINUTE) == 1
    assert sorted(Alert.objects.values_list("subject", flat=True)) == ["new", "open"]
    assert list(AlertDelivery.objects.values_list("recipient", flat=True)) == ["new"]
    keep(project, alert_days=0)
    Alert.objects.filter(subject="new").update(resolved_at=now - timedelta(days=9_999))
    assert apply_retention(most=A_MINUTE) == 0


@pytest.mark.parametrize(("table", "column"), [("traces_trace", "trace_id"), ("traces_turn", "turn_id")])
def test_what_rows_refer_to_is_not_deleted(project: Project, ana: Person, table: str, column: str) -> None:
    quoted = MemoryOrigin.objects.values_list(column, flat=True)[:1].get()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"delete from {table} where id = %s", [quoted])
        with pytest.raises(IntegrityError, match="foreign key constraint"):
            cursor.execute("set constraints all immediate")
        transaction.set_rollback(True)
