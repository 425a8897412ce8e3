"""Failed work is retried together, selected by error or user, in the order of its acceptance."""

from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.intake.sessions import end_session
from apps.outbox.models import ModelPause, OutboxRow, UserLease
from apps.pipeline.core.enums import TraceStatus, WorkState
from apps.pipeline.core.policy import ExtractionPolicy, Policy
from apps.projects.services import configure
from apps.queue.prune import prune
from apps.queue.services import retry_failed
from apps.tenants.models import Project
from apps.traces.models import ModelCall, Session, Span, Trace
from benchmarks.model_server import ModelServer, Reply
from tests.outbox.outbox_factories import let_pass
from tests.pipeline.answers import listing, memory
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana(project: Project) -> Person:
    return Person(project)


def die(person: Person, error: str = "no") -> None:
    """Mark all work of a person as dead."""
    OutboxRow.objects.filter(end_user_id=person.id).update(state=WorkState.DEAD, attempts=5, last_error=error)
    Trace.objects.filter(end_user_id=person.id).update(status=TraceStatus.DEAD, error=error)
    UserLease.objects.filter(end_user_id=person.id).update(ready_at=None)


def unusable(server: ModelServer) -> None:
    server.answering = lambda _: Reply(text="no")


def usable(server: ModelServer) -> None:
    kept = memory("User lives in Porto.", evidence="I live in Porto", predicate="lives_in", value="Porto")
    server.answering = lambda _: Reply(text=listing(kept))


def test_dead_work_runs_again_in_its_order(ana: Person) -> None:
    ana.says("I live in Lisbon.")
    ana.says("I live in Porto now.")
    die(ana)
    assert retry_failed(project_id=ana.project.id) == 2
    assert ana.statuses() == [TraceStatus.QUEUED] * 2
    ana.is_worked_for()
    assert ana.statuses() == [TraceStatus.DONE] * 2
    assert ana.memories() == ["User lives in Porto."]


@pytest.mark.parametrize(
    ("choice", "users"),
    [
        ({}, {"ana", "bo", "cy"}),
        ({"error": "refused"}, {"ana", "bo"}),
        ({"user_id": "bo"}, {"bo"}),
        ({"user_id": "bo", "error": "too long"}, set()),
        ({"user_id": "nobody"}, set()),
        ({"statuses": [TraceStatus.EXTRACTION_FAILED]}, set()),
        ({"statuses": [TraceStatus.DEAD], "error": "%"}, set()),
    ],
)
def test_what_is_chosen(project: Project, choice: dict[str, Any], users: set[str]) -> None:
    errors = {"ana": "connection refused", "bo": "refused with 503", "cy": "too long"}
    for name, error in errors.items():
        Person(project, name).says("I live in Lisbon.")
        die(Person(project, name), error)
    assert retry_failed(project_id=project.id, **choice) == len(users)
    queued = Trace.objects.filter(status=TraceStatus.QUEUED)
    assert set(queued.values_list("end_user__external_id", flat=True)) == users


def test_other_projects_are_left_alone(ana: Person, other_project: Project) -> None:
    ana.says("I live in Lisbon.")
    die(ana)
    assert retry_failed(project_id=other_project.id) == 0
    assert ana.statuses() == [TraceStatus.DEAD]


def test_many_are_retried_in_batches(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.queue.services.BATCH", 2)
    people = [Person(project, f"user {number}") for number in range(5)]
    for person in people:
        person.says("I live in Lisbon.")
        die(person)
    assert retry_failed(project_id=project.id) == 5


@pytest.mark.parametrize("forget", [lambda: None, OutboxRow.objects.all().delete])
def test_an_extraction_that_failed_runs_again(
    ana: Person, model_server: ModelServer, forget: Callable[[], object]
) -> None:
    """Whether the row of its finished work is still there or was pruned."""
    unusable(model_server)
    ana.says("I live in Porto now.")
    ana.is_given_up()
    assert ana.statuses() == [TraceStatus.EXTRACTION_FAILED]
    forget()
    usable(model_server)
    assert retry_failed(project_id=ana.project.id) == 1
    ana.is_worked_for()
    trace = Trace.objects.get()
    assert (trace.status, trace.error, ana.memories()) == (TraceStatus.DONE, "", ["User lives in Porto."])
    positions = list(Span.objects.filter(trace=trace).order_by("position").values_list("position", flat=True))
    assert positions == list(range(len(positions)))
    assert ModelCall.objects.filter(trace=trace).count() >= 3, "what was paid stays recorded"


def test_a_failed_review_of_a_session_runs_again(ana: Person, model_server: ModelServer) -> None:
    configure(
        project_id=ana.project.id,
        policy=Policy(extraction=ExtractionPolicy(min_session_turns=1, review_seen_sessions=True)),
    )
    usable(model_server)
    ana.says("I live in Porto now.")
    ana.is_worked_for()
    unusable(model_server)
    session = Session.objects.get()
    end_session(project_id=ana.project.id, end_user_id=ana.id, session_id=session.id)
    ana.is_given_up()
    assert ana.statuses() == [TraceStatus.DONE, TraceStatus.EXTRACTION_FAILED]
    OutboxRow.objects.all().delete()
    model_server.asked.clear()
    model_server.answering = lambda _: Reply(text=listing())
    assert retry_failed(project_id=ana.project.id, statuses=[TraceStatus.EXTRACTION_FAILED]) == 1
    ana.is_worked_for()
    assert ana.statuses() == [TraceStatus.DONE] * 2
    assert "I live in Porto now." in model_server.asked[-1].turns
    session.refresh_from_db()
    assert session.summarised_until == session.turn_count


def test_a_paused_model_is_tried_at_once(ana: Person, model_server: ModelServer) -> None:
    model_server.answering = lambda _: Reply(status=401)
    ana.says("I live in Porto now.")
    ana.is_worked_for()
    let_pass(timedelta(days=3, minutes=1))
    OutboxRow.objects.update(state=WorkState.DEAD)
    Trace.objects.update(status=TraceStatus.DEAD)
    usable(model_server)
    retry_failed(project_id=ana.project.id)
    ana.is_worked_for()
    assert (ana.statuses(), ModelPause.objects.count()) == ([TraceStatus.DONE], 0)


def test_pauses_that_no_work_waits_for_are_deleted(ana: Person, model_server: ModelServer) -> None:
    model_server.answering = lambda _: Reply(status=401)
    ana.says("I live in Porto now.")
    ana.is_worked_for()
    let_pass(timedelta(hours=2))
    assert prune() == 0
    UserLease.objects.update(waits_for="")
    assert prune() == 1
    assert not ModelPause.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "retried"), [(["--all"], 1), (["--error", "refused"], 1), (["--user", "bo", "--project=test"], 0)]
)
def test_the_command(ana: Person, arguments: list[str], retried: int) -> None:
    ana.says("I live in Lisbon.")
    die(ana, "connection refused")
    said = StringIO()
    call_command("retry_work", *arguments, stdout=said)
    assert said.getvalue() == f"{retried} will run again\n"


@pytest.mark.parametrize("arguments", [[], ["--all", "--project=unknown"]])
def test_the_command_asks_what_to_retry(db: None, arguments: list[str]) -> None:
    with pytest.raises(CommandError):
        call_command("retry_work", *arguments)
