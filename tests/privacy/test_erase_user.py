"""Erasing an end user: everything is deleted, nothing can be written back, and the user may return."""

from datetime import timedelta

import pytest
from django.db import connection

from apps.alerts.models import Alert
from apps.common.errors import Conflict, NotFound
from apps.intake.accept import Submission, accept
from apps.intake.sessions import end_session
from apps.memories.live_ports import live
from apps.memories.models import LedgerEntry, Memory, Rollback, RollbackItem
from apps.memories.services.revising import retract
from apps.memories.services.store import StoreRequest, store
from apps.outbox import leases
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import MemoryType, Role
from apps.pipeline.core.turn import NewTurn
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.privacy import users as running
from apps.privacy.users import USER_TABLES, continue_erasures, erase_user, user_hash
from apps.tenants.models import EndUser, Erasure, Project
from apps.traces.models import Session, Trace
from apps.worker.process_user import process_user
from tests.alerts.alert_rows import alert
from tests.console.filling import do_all

pytestmark = pytest.mark.django_db
NO_TIME = timedelta(0)


def say(project: Project, text: str, *, user: str = "ana") -> None:
    turn = NewTurn(role=Role.USER, content=text)
    accept(submission=Submission(project.id, None, user_id=user, session_id="monday", turns=(turn,)))


def note(project: Project, text: str, *, user: str = "ana") -> None:
    said = NewMemory(type=MemoryType.FACT, content=text)
    store(request=StoreRequest(project_id=project.id, api_key_id=None, user_id=user, memories=(said,)))


def rows_of(user: EndUser) -> dict[str, int]:
    counted = {table.name: table.model._default_manager.filter(end_user_id=user.id).count() for table in USER_TABLES}
    return {name: count for name, count in counted.items() if count}


@pytest.fixture
def ana(project: Project) -> EndUser:
    say(project, "I live in Lisbon and my sister is called Marta.")
    say(project, "I moved to Porto last week.")
    note(project, "Ana is allergic to nuts.")
    note(project, "Bea likes tea.", user="bea")
    do_all(project)
    connection.check_constraints()  # runs the triggers that a commit would have run
    return EndUser.objects.get(external_id="ana")


@pytest.mark.django_db(transaction=True)  # triggers write what has changed when a transaction ends
def test_every_row_of_the_user_is_gone_and_counted(project: Project, ana: EndUser) -> None:
    before = rows_of(ana)
    bea = rows_of(EndUser.objects.get(external_id="bea"))
    assert {"memories", "turns", "traces", "spans", "memory_vectors", "entities", "memory_origins"} <= set(before)

    erasure = erase_user(project_id=project.id, user_id="ana")

    assert erasure.finished_at is not None
    assert rows_of(ana) == {}
    assert erasure.counts.items() >= {name: count for name, count in before.items() if name != "leases"}.items()
    assert rows_of(EndUser.objects.get(external_id="bea")) == bea


def test_what_remains_says_who_it_was_only_to_those_who_know(project: Project, ana: EndUser) -> None:
    erasure = erase_user(project_id=project.id, user_id="ana")

    ana.refresh_from_db()
    assert ana.external_id == ""
    assert erasure.user_hash == user_hash(project_id=project.id, user_id="ana")
    assert erasure.user_hash != user_hash(project_id=project.id, user_id="bea")
    last = LedgerEntry.objects.filter(end_user=ana).first()
    assert (last.verb, last.details["rows"]) == ("erased", erasure.counts)


def test_an_unknown_or_erased_user_is_not_found(project: Project, other_project: Project, ana: EndUser) -> None:
    with pytest.raises(NotFound):
        erase_user(project_id=other_project.id, user_id="ana")
    erase_user(project_id=project.id, user_id="ana")
    with pytest.raises(NotFound):
        erase_user(project_id=project.id, user_id="ana")


def test_an_interrupted_erasure_goes_on_where_it_was(
    project: Project, ana: EndUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "BATCH_ROWS", 3)
    before = rows_of(ana)
    started = erase_user(project_id=project.id, user_id="ana", wait=NO_TIME)
    running.run_batch(started.id, USER_TABLES)
    assert started.finished_at is None
    assert sum(rows_of(ana).values()) < sum(before.values())

    assert erase_user(project_id=project.id, user_id="ana", wait=NO_TIME).id == started.id
    assert continue_erasures(most=timedelta(minutes=1)) == 1
    assert rows_of(ana) == {}
    started.refresh_from_db()
    assert sum(started.counts.values()) >= sum(before.values()) - 1  # the lease is revoked at once


def test_nothing_is_written_while_the_user_is_being_erased(project: Project, ana: EndUser) -> None:
    memory = Memory.objects.filter(end_user=ana).first()
    session = Session.objects.get(end_user=ana)
    erase_user(project_id=project.id, user_id="ana", wait=NO_TIME)

    with pytest.raises(Conflict):
        say(project, "I live in Madrid.")
    with pytest.raises(Conflict):
        note(project, "Ana likes tea.")
    with pytest.raises(Conflict):
        retract(project_id=project.id, memory_id=memory.id)
    with pytest.raises(NotFound):
        end_session(project_id=project.id, end_user_id=ana.id, session_id=session.id)


def test_a_worker_that_holds_the_user_loses_the_lease(project: Project, ana: EndUser) -> None:
    say(project, "I live in Madrid.")
    (lease,) = leases.claim(limit=1, seconds=60, only=ana.id)
    erase_user(project_id=project.id, user_id="ana")

    assert process_user(lease=lease, ports=live()) == 0
    assert rows_of(ana) == {}


def test_who_returns_starts_with_nothing(project: Project, ana: EndUser) -> None:
    erase_user(project_id=project.id, user_id="ana")

    say(project, "I live in Madrid now.")
    do_all(project)

    ana.refresh_from_db()
    assert (ana.external_id, ana.erased_at) == ("ana", None)
    assert [memory.object_text for memory in Memory.objects.filter(end_user=ana)] == ["Madrid"]
    assert Trace.objects.get(end_user=ana).status == "done"
    assert not OutboxRow.objects.exclude(state="done").filter(end_user=ana).exists()


def test_who_returns_by_a_direct_write_starts_with_nothing(project: Project, ana: EndUser) -> None:
    erase_user(project_id=project.id, user_id="ana")

    note(project, "Ana likes tea.")

    ana.refresh_from_db()
    assert (ana.external_id, ana.erased_at) == ("ana", None)
    assert Memory.objects.get(end_user=ana).content == "Ana likes tea."
    assert erase_user(project_id=project.id, user_id="ana").counts["memories"] == 1
    assert Erasure.objects.filter(end_user=ana).count() == 2


def test_notes_about_an_erased_user_are_cleared(project: Project) -> None:
    for user in ("ana-17", "bea-18"):
        say(project, "I live in Lisbon.", user=user)
    do_all(project)
    traces = {trace.end_user.external_id: trace for trace in Trace.objects.select_related("end_user")}
    about = Rollback.objects.create(project=project, selection={}, note="she called", actor="system", state="done")
    RollbackItem.objects.create(rollback=about, end_user=traces["ana-17"].end_user, state="done")
    for text in ("as ANA-17 asked", "as bea-18 asked"):
        Rollback.objects.create(project=project, selection={}, note=text, actor="system", state="done")
        alert(project, subject=text, note=text)

    erase_user(project_id=project.pk, user_id="ana-17")

    assert sorted(Rollback.objects.values_list("note", flat=True)) == ["", "", "as bea-18 asked"]
    assert sorted(Alert.objects.values_list("note", flat=True)) == ["", "as bea-18 asked"]
