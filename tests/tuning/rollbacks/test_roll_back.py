"""Rolling back traces: what they wrote is gone, what they had replaced is back, and the undo restores it."""

import pytest

from apps.memories.ledger.actor import acting_as
from apps.memories.models import Memory, MemoryOrigin
from apps.memories.services.revising import Revision, revise
from apps.pipeline.core.enums import Reason, Role, TraceStatus
from apps.pipeline.core.policy import Rule
from apps.projects.services import restore_version
from apps.tenants.models import Project
from apps.traces.models import Trace
from apps.tuning.rules import save_rule
from tests.tuning.rollbacks.teller import Teller, closed, names, roll_back, state, undo

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana(project: Project) -> Teller:
    return Teller(project)


@pytest.fixture
def bea(project: Project) -> Teller:
    return Teller(project, "bea")


def test_what_only_a_trace_says_is_gone_and_what_it_replaced_is_back(project: Project, ana: Teller) -> None:
    ana.tells("I live in Lisbon.", day=2)
    before, known = state(ana), names(ana)
    trace = ana.tells("I moved to Porto.", day=3)
    assert state(ana) != before

    rollback = roll_back(project, trace)

    assert state(ana) == before
    assert names(ana) == known
    assert Trace.objects.get(id=trace).status == TraceStatus.ROLLED_BACK
    assert rollback.state == "done"
    assert rollback.counts["memories_retracted"] == 1
    assert rollback.counts["memories_restored"] == 1


def test_the_undo_restores_it(project: Project, ana: Teller) -> None:
    ana.tells("I live in Lisbon.", day=2)
    trace = ana.tells("I moved to Porto. My sister is called Lena.", day=3)
    after, known = state(ana), names(ana)
    rollback = roll_back(project, trace)

    undone = undo(rollback)

    assert undone.state == "undone"
    assert state(ana) == after
    assert names(ana) == known
    assert Trace.objects.get(id=trace).status == TraceStatus.DONE
    assert undo(rollback).state == "undone"
    assert state(ana) == after


def test_what_came_after_stays_in_its_place(project: Project, ana: Teller, bea: Teller) -> None:
    ana.tells("I live in Lisbon.", day=2)
    trace = ana.tells("I moved to Porto.", day=3)
    ana.tells("I moved to Berlin.", day=4)
    bea.tells("I live in Lisbon.", day=2)
    bea.tells("I moved to Berlin.", day=4)

    roll_back(project, trace)

    assert state(ana) == state(bea)
    assert closed(ana) == closed(bea)


def test_a_repetition_is_taken_out_of_the_memory(project: Project, ana: Teller) -> None:
    ana.tells("I like green tea.", day=2)
    before = state(ana)
    trace = ana.tells("I like green tea.", day=5, session="friday")
    assert state(ana) != before

    roll_back(project, trace)

    assert state(ana) == before
    assert MemoryOrigin.objects.standing().count() == 1


def test_what_others_say_too_stays_with_their_words(project: Project, ana: Teller, bea: Teller) -> None:
    trace = ana.tells("I like green tea.", day=2)
    ana.tells("I really like green tea.", day=5, session="friday")
    bea.tells("I really like green tea.", day=5, session="friday")

    rollback = roll_back(project, trace)

    assert state(ana) == state(bea)
    assert [each["reason"] for each in rollback.items.get().left_alone] == ["said_elsewhere"]


def test_what_was_edited_is_left_alone_unless_forced(project: Project, ana: Teller) -> None:
    trace = ana.tells("I live in Lisbon.", day=2)
    memory = Memory.objects.get()
    with acting_as(f"key:{project.id}"):
        revise(revision=Revision(project.id, memory.id, {"importance": 0.9}))

    rollback = roll_back(project, trace)

    memory.refresh_from_db()
    assert memory.status == "active"
    (left,) = rollback.items.get().left_alone
    assert (left["memory_id"], left["reason"], left["can_be_forced"]) == (str(memory.id), "edited", True)
    undo(rollback)
    roll_back(project, trace, forced=[memory.id])
    memory.refresh_from_db()
    assert memory.status == "retracted"


def test_the_same_turn_is_stored_anew(project: Project, ana: Teller) -> None:
    trace = ana.tells("I live in Lisbon.", day=2)
    before = state(ana)
    roll_back(project, trace)
    assert state(ana) == set()

    ana.tells("I live in Lisbon.", day=2)

    assert state(ana) == before


def test_the_traces_run_again(project: Project, ana: Teller) -> None:
    trace = ana.tells("I live in Lisbon. My sister is called Lena.", day=2)
    before, known = state(ana), names(ana)

    rollback = roll_back(project, trace, rerun=True)
    assert state(ana) == set()
    ana.is_worked_for()

    assert state(ana) == before
    assert names(ana) == known
    assert Trace.objects.get(id=trace).status == TraceStatus.DONE
    undone = undo(rollback)
    assert {each["reason"] for each in undone.items.get().left_alone} == {"run_again"}
    assert state(ana) == before
    roll_back(project, trace)
    assert state(ana) == set()


def test_twice_is_once(project: Project, ana: Teller) -> None:
    ana.tells("I live in Lisbon.", day=2)
    trace = ana.tells("I moved to Porto.", day=3)
    roll_back(project, trace)
    before = state(ana)

    again = roll_back(project, trace)

    assert again.counts == {"users": 0}
    assert state(ana) == before


def test_rolled_back_undone_and_rolled_back_again(project: Project, ana: Teller) -> None:
    ana.tells("I like green tea.", day=2)
    before = state(ana)
    trace = ana.tells("I like green tea.", day=5, session="friday")
    undo(roll_back(project, trace))

    roll_back(project, trace)

    assert state(ana) == before


def test_waiting_work_is_cancelled_and_queued_again_by_the_undo(project: Project, ana: Teller) -> None:
    accepted = ana.says("I live in Lisbon.")

    rollback = roll_back(project, accepted.trace_id)
    ana.is_worked_for()
    assert state(ana) == set()

    undo(rollback)
    ana.is_worked_for()
    assert {row[0] for row in state(ana)} == {"User lives in Lisbon."}


def test_the_active_pre_filter_judges_traces_that_run_again(project: Project, ana: Teller) -> None:
    kept, other = ana.tells("I live in Lisbon.", day=2), ana.tells("My sister Lena lives in Porto.", day=3)
    before = state(ana)
    rule = Rule(name="porto", reason=Reason.PATTERN, pattern="porto", roles=(Role.USER,), order=1)
    strict = save_rule(project_id=project.id, rule=rule)

    roll_back(project, kept, other, rerun=True)
    ana.is_worked_for()

    assert {row[0] for row in state(ana)} == {"User lives in Lisbon."}
    dropped = Trace.objects.get(id=other)
    assert (dropped.status, dropped.configuration_id) == (TraceStatus.REJECTED, strict.id)
    assert dropped.counts["rejected"] == {"pattern:porto": 1}
    assert [(span.stage, span.reason) for span in dropped.spans.all()] == [("pre_filter", "pattern:porto")]
    assert dropped.turns.get().rejected_for == "pattern:porto"

    restore_version(project_id=project.id, number=1)
    roll_back(project, kept, other, rerun=True)
    ana.is_worked_for()

    assert state(ana) == before
    assert dropped.turns.get().rejected_for == ""


def test_a_memory_that_was_left_alone_does_not_hinder_the_next_run(project: Project, ana: Teller) -> None:
    trace = ana.tells("I live in Lisbon.", day=2)
    memory = Memory.objects.get(end_user_id=ana.id)
    words = {"content": "User plays the cello."}
    with acting_as(f"key:{project.id}"):
        revise(revision=Revision(project.id, memory.id, words))

    rollback = roll_back(project, trace, rerun=True)
    assert [each["reason"] for each in rollback.items.get().left_alone] == ["edited"]
    ana.is_worked_for()

    assert Trace.objects.get(id=trace).status == TraceStatus.DONE
