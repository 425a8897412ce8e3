"""A model that doesn't answer costs no attempt: only work that needs it waits, and continues by itself."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.intake.sessions import end_session
from apps.memories.services.store import StoreRequest, store
from apps.outbox import processing
from apps.outbox.models import ModelPause, OutboxRow, UserLease
from apps.pipeline.core.enums import (
    ExtractorKind,
    MemoryType,
    TraceStatus,
    WorkKind,
    WorkState,
)
from apps.pipeline.core.model_calls import ModelFailed
from apps.pipeline.core.policy import ExtractionPolicy, Policy
from apps.pipeline.core.ports import Ports
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.projects.services import configure
from apps.tenants.models import Project
from apps.traces.models import ModelCall, Trace
from apps.worker.process_user import process_user
from tests.outbox.outbox_factories import claim, claim_one, expire, let_pass, make_try_due
from tests.worker.flaky_model import FACT, GREETING, MODEL, FlakyModel, work
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db


def rows() -> list[tuple[str, int]]:
    return list(OutboxRow.objects.order_by("id").values_list("state", "attempts"))


def test_it_costs_no_attempt_however_often_it_is_tried(ana: Person, model: FlakyModel, ports: Ports) -> None:
    ana.says(FACT)
    for _ in range(8):
        work(ports)
        make_try_due()
    assert rows() == [(WorkState.PENDING, 0)]
    assert ana.statuses() == [TraceStatus.QUEUED]
    assert len(model.asked) == ModelPause.objects.get().failures == 8
    assert ModelCall.objects.count() == 1, "of the tries only the first is recorded"


def test_while_it_is_paused_no_other_call_is_made(project: Project, model: FlakyModel, ports: Ports) -> None:
    people = [Person(project, f"user {number}") for number in range(5)]
    for person in people:
        person.says(FACT)
    work(ports)
    people[0].says("I work as a nurse.")
    Person(project, "late").says(FACT)
    work(ports)
    assert len(model.asked) == 1
    assert set(UserLease.objects.values_list("waits_for", flat=True)) == {MODEL}
    assert claim() == []


def test_when_the_pause_is_over_one_worker_tries(project: Project, model: FlakyModel, ports: Ports) -> None:
    people = [Person(project, f"user {number}") for number in range(5)]
    for person in people:
        person.says(FACT)
    work(ports)
    make_try_due()
    first, second = claim(), claim()
    assert (len(first), len(second)) == (1, 1), "the first has not tried yet"
    for lease in (*first, *second):
        process_user(lease=lease, ports=ports)
    assert len(model.asked) == 2
    assert claim() == []


def test_a_worker_that_dies_while_it_tries_does_not_end_the_tries(ana: Person, model: FlakyModel, ports: Ports) -> None:
    ana.says(FACT)
    work(ports)
    make_try_due()
    (work_taken,) = processing.take(lease=claim_one(ana.id), runs=1)
    assert work_taken.paused == {MODEL}
    expire(ana.id)
    model.failure = None
    work(ports)
    assert ana.statuses() == [TraceStatus.DONE]


def test_one_answer_ends_the_pause_and_all_go_on_in_order(project: Project, model: FlakyModel, ports: Ports) -> None:
    people = [Person(project, f"user {number}") for number in range(3)]
    for person in people:
        for number in range(4):
            person.says(f"I have house number {number} in our street.", session=f"session {number}")
    work(ports)
    model.failure = None
    model.asked.clear()
    make_try_due()
    work(ports)
    assert not ModelPause.objects.exists()
    assert {status for person in people for status in person.statuses()} == {TraceStatus.DONE}
    finished = {person.id: [] for person in people}
    for user, created in Trace.objects.order_by("finished_at").values_list("end_user_id", "created_at"):
        finished[user].append(created)
    assert all(times == sorted(times) for times in finished.values())
    assert len(model.asked) == 12


def test_the_wait_doubles_and_a_server_that_names_one_gets_it(ana: Person, model: FlakyModel, ports: Ports) -> None:
    ana.says(FACT)
    waits = []
    for _ in range(10):
        work(ports)
        waits.append((ModelPause.objects.get().until - timezone.now()).total_seconds())
        make_try_due()
    expected = [5, 10, 20, 40, 80, 160, 300, 300, 300, 300]
    assert all(least - 5 <= wait <= 1.5 * least for least, wait in zip(expected, waits, strict=True))
    assert waits[6] > 250
    model.failure = lambda: ModelFailed("slow down", retry_after_seconds=1_234.0)
    work(ports)
    assert (ModelPause.objects.get().until - timezone.now()).total_seconds() == pytest.approx(1_234, abs=60)


def test_who_needs_no_model_is_not_held_up(
    ana: Person, project: Project, other_project: Project, model: FlakyModel, ports: Ports
) -> None:
    configure(project_id=other_project.id, policy=Policy(extraction=ExtractionPolicy(extractor=ExtractorKind.PLAIN)))
    ana.says(FACT)
    work(ports)
    chatty, foreign = Person(project, "chatty"), Person(other_project, "foreign")
    chatty.says(GREETING)
    foreign.says(FACT)
    work(ports)
    assert (ana.statuses(), foreign.statuses()) == ([TraceStatus.QUEUED], [TraceStatus.DONE])
    assert len(model.asked) == 1


def test_another_project_asks_for_itself(ana: Person, other_project: Project, model: FlakyModel, ports: Ports) -> None:
    ana.says(FACT)
    work(ports)
    model.failure = None
    bo = Person(other_project, "bo")
    bo.says(FACT)
    work(ports)
    assert (ana.statuses(), bo.statuses()) == ([TraceStatus.QUEUED], [TraceStatus.DONE])


def test_other_work_of_the_same_user_is_done(ana: Person, ports: Ports) -> None:
    ana.says(FACT)
    work(ports)
    said = NewMemory(type=MemoryType.FACT, content="Ana is tall.")
    store(request=StoreRequest(project_id=ana.project.id, api_key_id=None, user_id=ana.name, memories=(said,)))
    work(ports)
    assert dict(OutboxRow.objects.values_list("kind", "state")) == {
        WorkKind.RUN_PIPELINE: WorkState.PENDING,
        WorkKind.INDEX_MEMORY: WorkState.DONE,
    }


def test_after_three_days_work_ends_dead_and_says_why(ana: Person, model: FlakyModel, ports: Ports) -> None:
    ana.says(FACT)
    work(ports)
    let_pass(timedelta(days=2))
    ana.says("I work as a nurse.")
    work(ports)
    let_pass(timedelta(days=1, minutes=1))
    work(ports)
    assert ana.statuses() == [TraceStatus.DEAD, TraceStatus.QUEUED]
    dead = Trace.objects.get(status=TraceStatus.DEAD)
    assert dead.error.startswith(f"{MODEL} has not answered since ")
    assert dead.error.endswith("connection refused; given up after 3 days")
    assert dead.finished_at is not None


def test_old_work_is_not_given_up_in_a_new_outage(ana: Person, ports: Ports) -> None:
    ana.says(FACT)
    let_pass(timedelta(days=9))
    work(ports)
    assert ana.statuses() == [TraceStatus.QUEUED]


def test_the_review_of_a_session_waits_as_well(ana: Person, model: FlakyModel, ports: Ports) -> None:
    configure(
        project_id=ana.project.id,
        policy=Policy(extraction=ExtractionPolicy(min_session_turns=1, review_seen_sessions=True)),
    )
    model.failure = None
    said = ana.says(FACT)
    work(ports)
    model.failure = lambda: ModelFailed("connection refused")
    trace = Trace.objects.get(id=said.trace_id)
    end_session(project_id=ana.project.id, end_user_id=ana.id, session_id=trace.session_id)
    for _ in range(7):
        work(ports)
        make_try_due()
    assert ana.statuses() == [TraceStatus.DONE, TraceStatus.QUEUED]
    ana.says(GREETING, session="tuesday")
    model.failure = None
    make_try_due()
    work(ports)
    assert set(ana.statuses()) <= {TraceStatus.DONE, TraceStatus.REJECTED}
