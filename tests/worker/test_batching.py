"""When the model is asked: for each request, after a pause, or at the end of the session; callers who wait never do."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from apps.intake.accept import Accepted, Submission, accept
from apps.intake.sessions import end_session
from apps.memories.live_ports import live
from apps.memories.models import Memory
from apps.outbox.model_pauses import find_wait_reason
from apps.outbox.models import OutboxRow, UserLease
from apps.pipeline.core.enums import Role, TraceStatus
from apps.pipeline.core.identifiers import session_id
from apps.pipeline.core.model_calls import ModelRequest, Purpose
from apps.pipeline.core.ports import Ports
from apps.pipeline.core.turn import NewTurn
from apps.providers.fake import ScriptedModel
from tests.pipeline.answers import listing, memory, new_turns
from tests.worker.answering_model import extracted_with
from tests.worker.flaky_model import MODEL
from tests.worker.worker_helper import Person

pytestmark = [pytest.mark.django_db, pytest.mark.promise]
HOBBIES = "sailing chess opera gardening climbing painting baking judo yoga fishing archery pottery".split()


def likes(request: ModelRequest) -> str:
    """Propose what each new turn says to be liked."""
    if request.purpose is not Purpose.EXTRACT:
        return '{"memories": []}'
    said = new_turns(request)
    return listing(*(memory(f"User likes {text[7:-1]}.", evidence=text, turns=[turn]) for turn, text in said.items()))


@pytest.fixture
def model(settings: Any) -> ScriptedModel:
    settings.MODEL = MODEL
    return ScriptedModel(likes)


@pytest.fixture
def ports(model: ScriptedModel) -> Ports:
    return replace(live(), model=model)


def post(person: Person, *hobbies: str, session: str = "monday", awaited: bool = False) -> Accepted:
    """Post one request for each hobby; return the last one."""
    for hobby in hobbies:
        turns = (NewTurn(role=Role.USER, content=f"I like {hobby}."),)
        accepted = accept(
            submission=Submission(person.project.id, None, person.name, session, turns, is_awaited=awaited)
        )
    return accepted


def ask(person: Person, question: str) -> None:
    turns = (NewTurn(role=Role.USER, content=question),)
    accept(submission=Submission(person.project.id, None, person.name, "monday", turns))


def let_pass(**time: int) -> None:
    past = timedelta(**time)
    OutboxRow.objects.update(run_at=F("run_at") - past)
    UserLease.objects.update(ready_at=F("ready_at") - past)


def extractions(model: ScriptedModel) -> int:
    return sum(request.purpose is Purpose.EXTRACT for request in model.asked)


def test_balanced_waits_for_a_quiet_minute(ana: Person, ports: Ports, model: ScriptedModel) -> None:
    post(ana, *HOBBIES[:3])
    ana.is_worked_for(ports)
    let_pass(seconds=60)
    ana.is_worked_for(ports)
    assert ana.memories() == []

    let_pass(seconds=11)
    ana.is_worked_for(ports)
    assert (len(ana.memories()), extractions(model)) == (3, 1)


def test_each_further_turn_begins_the_quiet_minute_again(ana: Person, ports: Ports) -> None:
    post(ana, HOBBIES[0])
    let_pass(seconds=60)
    post(ana, HOBBIES[1])
    let_pass(seconds=60)
    ana.is_worked_for(ports)
    assert ana.memories() == []


def test_balanced_waits_for_no_more_than_eight_turns(ana: Person, ports: Ports, model: ScriptedModel) -> None:
    post(ana, *HOBBIES[:7])
    ana.is_worked_for(ports)
    assert ana.memories() == []

    post(ana, HOBBIES[7])
    ana.is_worked_for(ports)
    assert (len(ana.memories()), extractions(model)) == (8, 1)


def test_eager_asks_for_each_request(ana: Person, ports: Ports, model: ScriptedModel) -> None:
    extracted_with(ana.project, batching="eager")
    for hobby in HOBBIES[:3]:
        post(ana, hobby)
        ana.is_worked_for(ports)
    assert (len(ana.memories()), extractions(model)) == (3, 3)


def test_an_answer_ends_what_was_dropped_in_an_earlier_request_of_its_call(ana: Person, settings: Any) -> None:
    settings.MODEL = MODEL

    def answer(request: ModelRequest) -> str:
        return '{"memories": [], "ends": ["m1"]}' if "dropped" in request.turns else likes(request)

    ports = replace(live(), model=ScriptedModel(answer))
    post(ana, "pottery")
    let_pass(seconds=71)
    ana.is_worked_for(ports)
    assert ana.memories() == ["User likes pottery."]

    ask(ana, "I dropped the pottery class.")
    ask(ana, "I go home by train now.")
    let_pass(seconds=71)
    ana.is_worked_for(ports)
    over = Memory.objects.get(end_user_id=ana.id)
    assert over.valid_until is not None


def test_what_probably_tells_nothing_causes_no_call_by_itself(ana: Person, ports: Ports, model: ScriptedModel) -> None:
    extracted_with(ana.project, batching="eager")
    ask(ana, "Is that normal?")
    ana.is_worked_for(ports)
    assert model.asked == []

    post(ana, HOBBIES[0])
    ana.is_worked_for(ports)
    assert (ana.statuses(), extractions(model)) == ([TraceStatus.DONE, TraceStatus.DONE], 1)


def test_small_talk_delays_nothing_for_ever(ana: Person, ports: Ports) -> None:
    """What was said is processed when the turns fill a call, though each further request asks only."""
    post(ana, HOBBIES[0])
    for number in range(19):
        let_pass(seconds=60)
        ask(ana, f"What is {number} plus {number}?")
    ana.is_worked_for(ports)
    assert ana.memories()[0] == f"User likes {HOBBIES[0]}."


def test_thrifty_asks_at_the_end_of_the_session(ana: Person, ports: Ports, model: ScriptedModel) -> None:
    extracted_with(ana.project, batching="thrifty")
    post(ana, *HOBBIES)
    let_pass(minutes=20)
    ana.is_worked_for(ports)
    assert ana.memories() == []

    session = session_id(end_user_id=ana.id, session_id="monday")
    end_session(project_id=ana.project.id, end_user_id=ana.id, session_id=session)
    ana.is_worked_for(ports)
    assert (len(ana.memories()), extractions(model)) == (12, 1)


def test_who_waits_for_the_outcome_waits_for_no_batch(ana: Person, ports: Ports) -> None:
    """The requests before it are done with it: the order of what was said is kept."""
    post(ana, *HOBBIES[:2])
    post(ana, HOBBIES[2], awaited=True)
    ana.is_worked_for(ports)
    assert ana.memories() == [f"User likes {hobby}." for hobby in HOBBIES[:3]]


def test_sessions_wait_apart(ana: Person, ports: Ports) -> None:
    """The quiet session is done although the other one goes on, and nothing is done out of order."""
    post(ana, HOBBIES[0], session="monday")
    let_pass(seconds=65)
    post(ana, HOBBIES[1], session="tuesday")
    let_pass(seconds=10)
    ana.is_worked_for(ports)
    assert ana.memories() == [f"User likes {HOBBIES[0]}."]


def test_a_caller_is_told_why_a_request_waits(ana: Person, ports: Ports) -> None:
    waiting = post(ana, HOBBIES[0])
    reason = find_wait_reason(end_user_id=ana.id, subject_id=waiting.trace_id)
    assert reason is not None
    assert reason.reason == "further turns of the session may share a call to the model"
    assert reason.next_try_at > timezone.now()


def test_waiting_turns_are_no_backlog(ana: Person, ports: Ports) -> None:
    post(ana, HOBBIES[0])
    assert not OutboxRow.objects.overdue().exists()
    let_pass(minutes=2)
    assert OutboxRow.objects.overdue().exists()


def test_a_session_that_one_call_has_seen_is_not_reviewed_again(
    ana: Person, ports: Ports, model: ScriptedModel
) -> None:
    post(ana, *HOBBIES[:8])
    ana.is_worked_for(ports)
    session = session_id(end_user_id=ana.id, session_id="monday")
    end_session(project_id=ana.project.id, end_user_id=ana.id, session_id=session)
    ana.is_worked_for(ports)
    assert [request.purpose for request in model.asked].count(Purpose.EXTRACT_SESSION) == 0


def test_a_session_that_no_call_has_seen_whole_is_reviewed(ana: Person, ports: Ports, model: ScriptedModel) -> None:
    for start in (0, 4, 8):
        post(ana, *HOBBIES[start : start + 4], awaited=True)
        ana.is_worked_for(ports)
    post(ana, *(f"{hobby} in the rain" for hobby in HOBBIES))
    session = session_id(end_user_id=ana.id, session_id="monday")
    end_session(project_id=ana.project.id, end_user_id=ana.id, session_id=session)
    ana.is_worked_for(ports)
    assert [request.purpose for request in model.asked].count(Purpose.EXTRACT_SESSION) == 1
