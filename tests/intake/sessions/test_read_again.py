"""Messages that were kept as notes are read again once there is a model, and each is replaced by what it says."""

import re
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from apps.common.errors import Conflict
from apps.intake.read_again import read_again, sessions_to_read
from apps.intake.sessions import delete_turn
from apps.memories.models import LedgerEntry, Memory
from apps.memories.services.revising import retract
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import NOTE, Status, TraceStatus, WorkKind
from apps.queue.services import retry_failed
from apps.tenants.models import Project
from apps.traces.models import ReplayedState, Trace, Turn
from benchmarks.model_server import ModelServer, Reply
from tests.pipeline.answers import listing, memory
from tests.tuning.replays.replay_helper import replay_of
from tests.tuning.rollbacks.teller import Teller, roll_back, undo
from tests.worker.answering_model import extracted_with

pytestmark = pytest.mark.django_db
SISTER = "My sister Mara moved to Bergen last spring to work on a research boat."
RUNNING = "We were out on the fjord all weekend and my knee hurt again afterwards."
MOVED = memory("Mara moved to Bergen.", evidence="My sister Mara moved to Bergen", predicate="moved_to", value="Bergen")


def notes(*statuses: Status) -> list[str]:
    rows = Memory.objects.filter(tags__contains=[NOTE], status__in=statuses or (Status.ACTIVE,))
    return list(rows.order_by("said_at").values_list("evidence", flat=True))


def statements() -> list[str]:
    rows = Memory.objects.filter(status=Status.ACTIVE).exclude(tags__contains=[NOTE])
    return list(rows.order_by("id").values_list("content", flat=True))


@pytest.fixture
def ana(project: Project, settings: Any) -> Teller:
    """A user of whom two notes were taken without a model."""
    settings.MODEL = ""
    person = Teller(project)
    person.tells(SISTER, day=2)
    person.tells(RUNNING, day=3)
    assert notes() == [SISTER, RUNNING]
    return person


@pytest.fixture
def model(ana: Teller, model_server: ModelServer) -> ModelServer:
    """A model, configured since, that reads one of the two messages."""
    extracted_with(ana.project, batching="eager")
    model_server.answering = lambda _: Reply(text=listing(MOVED))
    return model_server


def read(ana: Teller) -> Trace:
    assert read_again(ana.project.id) == 1
    ana.is_worked_for()
    return Trace.objects.get(reads_again=True)


def test_without_a_model_nothing_is_offered(ana: Teller) -> None:
    assert sessions_to_read(ana.project.id).sessions == 0
    with pytest.raises(Conflict):
        read_again(ana.project.id)


def test_a_statement_replaces_the_note_of_its_message_alone(ana: Teller, model: ModelServer) -> None:
    offered = sessions_to_read(ana.project.id)
    assert (offered.messages, offered.sessions, offered.calls) == (2, 1, 1)
    trace = read(ana)
    assert (notes(), statements()) == ([RUNNING], ["Mara moved to Bergen."])
    closed = Memory.objects.get(status=Status.SUPERSEDED)
    assert closed.superseded_by == Memory.objects.get(content="Mara moved to Bergen.")
    assert (trace.status, len(model.asked)) == (TraceStatus.DONE, 1)
    assert SISTER in model.asked[0].turns
    assert RUNNING in model.asked[0].turns


def test_what_was_read_again_is_not_offered_again(ana: Teller, model: ModelServer) -> None:
    read(ana)
    assert sessions_to_read(ana.project.id).sessions == 0
    assert read_again(ana.project.id) == 0


def test_a_session_whose_reading_waits_gets_no_second_one(ana: Teller, model: ModelServer) -> None:
    assert [read_again(ana.project.id), read_again(ana.project.id)] == [1, 0]
    assert OutboxRow.objects.filter(kind=WorkKind.READ_AGAIN).count() == 1
    waiting = sessions_to_read(ana.project.id)
    assert (waiting.sessions, waiting.read, waiting.reading) == (0, 0, 1)
    assert LedgerEntry.objects.get(verb="sessions_read_again").details == {"sessions": 1}


def test_a_known_memory_that_is_stated_closes_the_note_as_well(ana: Teller, model: ModelServer) -> None:
    moved = memory("Mara moved to Bergen.", evidence="Mara moved to Bergen", predicate="moved_to", value="Bergen")
    model.answering = lambda _: Reply(text=listing(moved))
    ana.tells("You know, my sister Mara moved to Bergen.", day=4, session="tuesday")
    assert statements() == ["Mara moved to Bergen."]
    model.answering = lambda _: Reply(text=listing(MOVED))
    read(ana)
    assert (notes(), statements()) == ([RUNNING], ["Mara moved to Bergen."])
    assert Memory.objects.get(content="Mara moved to Bergen.").origins.count() == 2


def test_a_statement_that_waits_for_review_leaves_the_note(ana: Teller, model: ModelServer) -> None:
    model.answering = lambda _: Reply(text=listing({**MOVED, "speech_act": "hypothetical"}))
    read(ana)
    assert (notes(), statements()) == ([SISTER, RUNNING], [])


def test_a_rollback_restores_the_notes_and_its_undo_the_statements(ana: Teller, model: ModelServer) -> None:
    trace = read(ana)
    rollback = roll_back(ana.project, trace.id)
    assert (notes(), statements()) == ([SISTER, RUNNING], [])
    assert sessions_to_read(ana.project.id).sessions == 1
    undo(rollback)
    assert (notes(), statements()) == ([RUNNING], ["Mara moved to Bergen."])


def test_a_rollback_of_what_was_read_takes_back_the_reading(ana: Teller, model: ModelServer) -> None:
    first = Trace.objects.get(turns__content=SISTER)
    read(ana)
    rollback = roll_back(ana.project, first.id)
    assert (notes(), statements()) == ([RUNNING], [])
    undo(rollback)
    assert (notes(), statements()) == ([RUNNING], ["Mara moved to Bergen."])


def test_a_reading_that_waited_is_queued_again_by_the_undo_of_a_rollback(ana: Teller, model: ModelServer) -> None:
    read_again(ana.project.id)
    undo(roll_back(ana.project, Trace.objects.get(reads_again=True).id))
    ana.is_worked_for()
    assert (notes(), statements()) == ([RUNNING], ["Mara moved to Bergen."])


def test_what_was_retracted_is_not_read_again(ana: Teller, model: ModelServer) -> None:
    note = Memory.objects.get(evidence=SISTER)
    retract(project_id=ana.project.id, memory_id=note.id)
    read(ana)
    assert re.findall(r'new="true">(.*?)</turn>', model.asked[0].turns, re.DOTALL) == [RUNNING]
    assert (notes(), statements()) == ([RUNNING], [])


def test_a_deleted_message_leaves_no_word_in_the_reading(ana: Teller, model: ModelServer) -> None:
    trace = read(ana)
    delete_turn(project_id=ana.project.id, turn_id=Turn.objects.get(content=SISTER).id)
    trace.refresh_from_db()
    assert "Bergen" not in f"{trace.plan}{trace.outcomes}{[call.answer for call in trace.model_calls.all()]}"
    assert (notes(), statements()) == ([RUNNING], [])


def test_an_unreadable_answer_leaves_the_notes_and_the_reading_is_retried(ana: Teller, model: ModelServer) -> None:
    model.answering = lambda _: Reply(text="no JSON")
    assert read_again(ana.project.id) == 1
    ana.is_given_up()
    assert notes() == [SISTER, RUNNING]
    assert sessions_to_read(ana.project.id).sessions == 1
    model.answering = lambda _: Reply(text=listing(MOVED))
    assert retry_failed(project_id=ana.project.id) == 1
    ana.is_worked_for()
    assert (notes(), statements()) == ([RUNNING], ["Mara moved to Bergen."])


def test_a_replay_leaves_a_reading_as_it_is_recorded(ana: Teller, model: ModelServer) -> None:
    reading = read(ana)
    runs, _ = replay_of(ana.id)
    states = {run.head.trace_id: run.state for run in runs}
    assert states.pop(reading.id) is ReplayedState.MISSED
    assert set(states.values()) == {ReplayedState.SAME}


def test_each_source_of_a_session_is_read_for_itself(ana: Teller, model: ModelServer) -> None:
    other = Trace.objects.get(turns__content=RUNNING)
    Trace.objects.filter(id=other.id).update(metadata={"team": "sea"})
    assert (read_again(ana.project.id), sessions_to_read(ana.project.id).reading) == (1, 1)
    ana.is_worked_for()
    assert [Memory.objects.get(content="Mara moved to Bergen.").metadata, len(model.asked)] == [{}, 2]
    assert notes() == [RUNNING]


def run(*words: str) -> str:
    out = StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def test_the_command_reads_what_there_is(ana: Teller, model: ModelServer) -> None:
    assert "2 messages in 1 sessions" in run("read_again", "--project", "test", "--dry-run")
    assert "1 sessions will be read again" in run("read_again", "--project", "test")
    ana.is_worked_for()
    assert notes() == [RUNNING]
