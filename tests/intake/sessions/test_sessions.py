"""Sessions end, by a call or when idle, and get one session-level extraction."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from apps.common.errors import NotFound
from apps.intake.sessions import end_idle_sessions, end_session
from apps.memories.models import Memory, MemoryOrigin
from apps.outbox.models import OutboxRow, UserLease
from apps.pipeline.core.enums import TraceStatus, WorkKind, WorkState
from apps.pipeline.core.identifiers import new_id, session_id
from apps.pipeline.core.policy import ExtractionPolicy, Policy, RetentionPolicy
from apps.privacy.apply_retention import apply_retention
from apps.projects.services import configure
from apps.tenants.models import Project
from apps.traces.models import ModelCall, Session, Trace, Turn
from benchmarks.model_server import ModelServer, Reply
from benchmarks.model_wire import Asked
from tests.outbox.outbox_factories import make_due
from tests.pipeline.answers import listing
from tests.worker.worker_helper import Person, interrupted

pytestmark = pytest.mark.django_db
GOAL = {
    "kind": "goal",
    "content": "User is exploring a move to Bergen.",
    "evidence": "what does a flat in Bergen cost",
    "source_turn_ids": ["t1", "t2"],
    "importance": 0.7,
    "topic": "home",
}


@pytest.fixture
def ana(project: Project, model_server: ModelServer) -> Person:
    """An end user for whom the model finds nothing in single turns, and a goal in the session."""
    looks_back(model_server, GOAL)
    configure(
        project_id=project.id,
        policy=Policy(extraction=ExtractionPolicy(min_session_turns=1, review_seen_sessions=True)),
    )
    person = Person(project)
    person.says("Tell me, what does a flat in Bergen cost?")
    person.says("And do the schools there teach in English?")
    person.is_worked_for()
    return person


def looks_back(server: ModelServer, *found: dict[str, Any]) -> None:
    def reply(asked: Asked) -> Reply:
        return Reply(text=listing(*found) if "review one whole" in asked.static else listing())

    server.answering = reply


def end(person: Person) -> UUID | None:
    session = session_id(end_user_id=person.id, session_id="monday")
    return end_session(project_id=person.project.id, end_user_id=person.id, session_id=session)


def test_what_a_session_shows_is_stored_as_inferred(ana: Person) -> None:
    ended = end(ana)
    ana.is_worked_for()

    (stored,) = Memory.objects.all()
    assert (stored.content, stored.type, stored.predicate) == (GOAL["content"], "fact", "has_goal")
    assert (stored.tags, stored.source_confidence, stored.status) == (["goal", "inferred"], "inferred", "active")
    assert stored.confidence == pytest.approx(0.6 * 0.75 + 0.25 * 0.85)
    assert (stored.trace_id, stored.origins.count()) == (ended, 2)
    trace = Trace.objects.get(id=ended)
    assert (trace.status, trace.counts["stored"]) == (TraceStatus.DONE, 1)
    assert ModelCall.objects.get(trace=trace).purpose == "extract_session"
    session = Session.objects.get()
    assert (session.summarised_until, session.ended_at is not None) == (2, True)


def test_ending_it_twice_adds_nothing(ana: Person) -> None:
    first, second = end(ana), end(ana)
    assert first == second
    ana.is_worked_for()
    assert end(ana) is None
    ana.is_worked_for()
    assert (Memory.objects.count(), OutboxRow.objects.filter(kind=WorkKind.EXTRACT_SESSION).count()) == (1, 1)


def test_work_that_is_done_again_adds_nothing(ana: Person) -> None:
    end(ana)
    ana.is_worked_for()
    OutboxRow.objects.filter(kind=WorkKind.EXTRACT_SESSION).update(state=WorkState.PENDING)
    calls = ModelCall.objects.count()
    UserLease.objects.update(ready_at=timezone.now() - timedelta(seconds=1))
    ana.is_worked_for()
    assert (Memory.objects.count(), ModelCall.objects.count()) == (1, calls)
    assert not OutboxRow.objects.open().exclude(kind=WorkKind.ASK_QUESTIONS).exists()


def test_turns_that_are_deleted_while_the_session_is_looked_at_are_not_quoted(ana: Person) -> None:
    limits = ExtractionPolicy(min_session_turns=1, review_seen_sessions=True)
    configure(project_id=ana.project.id, policy=Policy(extraction=limits, retention=RetentionPolicy(turn_days=30)))
    ended = end(ana)

    def delete_turns(_: object) -> None:
        Trace.objects.exclude(id=ended).update(created_at=timezone.now() - timedelta(days=40))
        apply_retention(most=timedelta(minutes=1))

    ana.is_worked_for(interrupted(delete_turns))
    assert (Turn.objects.count(), MemoryOrigin.objects.count(), Memory.objects.count()) == (0, 0, 0)
    make_due(ana.id)
    ana.is_worked_for()
    assert (ana.statuses()[-1], Memory.objects.count()) == (TraceStatus.DONE, 0)


def test_later_turns_open_it_again_and_are_looked_at_alone(ana: Person, model_server: ModelServer) -> None:
    end(ana)
    ana.is_worked_for()
    ana.says("How long does a lorry take to get there from Leeds?")
    assert Session.objects.get().ended_at is None
    ana.is_worked_for()
    looks_back(model_server, {**GOAL, "evidence": "what does a flat in Bergen cost", "source_turn_ids": ["t1"]})
    again = end(ana)
    ana.is_worked_for()

    assert again is not None
    asked = model_server.asked[-1].turns
    assert (asked.count("<turn "), "lorry" in asked) == (1, True)
    assert "| has_goal | User is exploring a move to Bergen." in model_server.asked[-1].context
    assert Trace.objects.get(id=again).outcomes[0]["reason"] == "not_supported"
    assert Memory.objects.count() == 1


def test_idle_sessions_end_by_themselves(ana: Person, settings: Any) -> None:
    assert end_idle_sessions() == 0
    Session.objects.update(last_turn_at=timezone.now() - timedelta(minutes=settings.SESSION_IDLE_MINUTES + 1))
    assert (end_idle_sessions(), end_idle_sessions()) == (1, 0)
    ana.is_worked_for()
    assert Memory.objects.count() == 1


def test_without_a_model_it_only_ends(project: Project) -> None:
    person = Person(project)
    person.says("I live in Lisbon.")
    assert end(person) is None
    assert Session.objects.get().ended_at is not None
    assert not OutboxRow.objects.filter(kind=WorkKind.EXTRACT_SESSION).exists()


def test_a_session_that_nobody_knows(project: Project) -> None:
    with pytest.raises(NotFound):
        end_session(project_id=project.id, end_user_id=new_id(), session_id=new_id())


def test_a_failing_look_back_waits_and_its_trace_too(ana: Person, model_server: ModelServer) -> None:
    model_server.answering = lambda _: Reply(status=529, headers={"retry-after-ms": "1"})
    ended = end(ana)
    ana.is_worked_for()
    trace = Trace.objects.get(id=ended)
    assert (trace.status, "OverloadedError" in trace.error) == (TraceStatus.QUEUED, True)
    assert Session.objects.get().summarised_until == 0


@pytest.mark.parametrize("text", ["nothing of note", '{"memories": [1, null, {"kind": "plan"}]}', '{"memories": []}'])
def test_whatever_it_answers_the_trace_ends(ana: Person, model_server: ModelServer, text: str) -> None:
    model_server.answering = lambda _: Reply(text=text)
    ended = end(ana)
    ana.is_given_up()
    assert Trace.objects.get(id=ended).status in (TraceStatus.DONE, TraceStatus.EXTRACTION_FAILED)
    assert not Memory.objects.exists()
