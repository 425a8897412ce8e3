"""After a fault before or after any stage, the final state is that of a run without faults."""

import time
from collections import Counter
from itertools import product
from typing import Any

import pytest
from django.db import connection

from apps.intake.accept import Submission, accept
from apps.intake.idempotency import Claim, IdempotencyInProgress, ReplayableAnswer, run_once
from apps.memories.live_ports import live
from apps.outbox import processing
from apps.outbox.models import UserLease
from apps.pipeline.core.enums import Role, Stage
from apps.pipeline.core.turn import NewTurn
from apps.projects.services import create_project
from apps.tenants.models import Project
from apps.worker.shutdown import StopFlag
from apps.worker.work import Worker
from tests.chaos.failpoints import Failpoint, Harm, armed, in_a_fork
from tests.chaos.ledger import final_state
from tests.chaos.load import Message, conversation
from tests.instance import PATIENCE
from tests.outbox.outbox_factories import expire, make_due
from tests.soak import is_soak
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db(transaction=True)

STAGES = [stage for stage in Stage if stage is not Stage.PRE_FILTER]
TURNS = conversation(user="ana", turns=11 if is_soak() else 5)
HARMS = [Harm.EXCEPTION, Harm.SIGKILL, pytest.param(Harm.CONNECTION, marks=pytest.mark.soak)]
TRIES = 6_000
State = dict[str, Counter[tuple[Any, ...]]]


def post(project: Project, message: Message) -> None:
    """Accept a turn under its key, as the view does."""
    turn = NewTurn(
        role=Role.USER, content=message.content, external_id=str(message.number), occurred_at=message.said_at
    )
    submission = Submission(project.id, None, message.user, message.session, (turn,))

    def do() -> ReplayableAnswer:
        return ReplayableAnswer(status=202, body={"trace_id": str(accept(submission=submission).trace_id)})

    claim = Claim(project_id=project.id, key=str(message.number), fingerprint="")
    for _ in range(TRIES):
        try:
            run_once(claim=claim, do=do)
        except IdempotencyInProgress:
            time.sleep(0.05)  # the database has not noticed yet that the holder of the key was killed
        else:
            return
    raise AssertionError("the key of a killed request is held for ever")


def drain() -> None:
    Worker(ports=live(), threads=2, stop=StopFlag(), idle_seconds=0.0, seconds=PATIENCE).run()


def recover(project: Project) -> None:
    """Let leases expire and waiting work become due, then drain."""
    user = Person(project, "ana").id
    expire(user)
    make_due(user)
    drain()


def state_of(project: Project) -> State:
    connection.ensure_connection()
    return final_state(connection.connection, str(project.id))


@pytest.fixture(autouse=True)
def _retries_wait_for_recovery(monkeypatch: pytest.MonkeyPatch) -> None:
    """Delay retries, so that a slow machine does not repeat failed work while it still drains."""
    monkeypatch.setattr(processing, "LEAST_BACKOFF", processing.MOST_BACKOFF)


@pytest.fixture
def baseline(transactional_db: None) -> State:
    project = create_project(name="Calm", slug="baseline")
    for message in TURNS:
        post(project, message)
    drain()
    return state_of(project)


@pytest.mark.parametrize("harm", HARMS)
def test_a_fault_at_any_stage_of_the_work_changes_nothing_in_the_end(baseline: State, harm: Harm) -> None:
    for number, (stage, after) in enumerate(product(STAGES, (False, True))):
        point = Failpoint(stage=stage, after=after, harm=harm)
        project = create_project(name="Stormy", slug=f"stormy-{number}")
        for message in TURNS:
            post(project, message)
        with armed(point):
            ended = in_a_fork(drain)
        assert ended == (-9 if harm is Harm.SIGKILL else 0), point
        assert state_of(project) != baseline, f"{point} did no harm"
        recover(project)
        assert state_of(project) == baseline, point


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("after", [False, True])
def test_a_fault_while_a_turn_is_accepted_leaves_nothing_and_it_can_be_sent_again(
    baseline: State, harm: Harm, after: bool
) -> None:
    project = create_project(name="Stormy", slug="stormy")
    for number, message in enumerate(TURNS):
        if number % 2:
            with armed(Failpoint(stage=Stage.PRE_FILTER, after=after, harm=harm)):
                assert in_a_fork(lambda message=message: post(project, message)) != 0
        post(project, message)
    assert not UserLease.objects.filter(lease_token__isnull=False).exists()
    drain()
    assert state_of(project) == baseline
