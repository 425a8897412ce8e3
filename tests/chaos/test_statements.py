"""Any statement may fail: writes are atomic, and the final state is as if none had failed."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import OperationalError, connection, connections
from django.db.backends.signals import connection_created

from apps.intake.accept import Submission, accept
from apps.memories.live_ports import live
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import Role, WorkState
from apps.pipeline.core.turn import NewTurn
from apps.projects.services import create_project
from apps.queue.services import retry_work
from apps.tenants.models import Project
from apps.worker.shutdown import StopFlag
from apps.worker.work import Worker
from tests.chaos.ledger import final_state
from tests.chaos.load import Message, conversation
from tests.instance import PATIENCE
from tests.outbox.outbox_factories import expire, make_due
from tests.soak import SOAK_TURNS
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db(transaction=True)

USERS, TURNS = 4, 25 if SOAK_TURNS else 12
ROUNDS = 60


class Unreliable:
    """Fails a share of the statements, half of them after they were carried out."""

    def __init__(self, share: float, seed: int) -> None:
        self._share, self._chance = share, random.Random(seed)
        self.failed = 0

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        fails = self._chance.random() < self._share
        late = fails and self._chance.random() < 0.5
        result = None if fails and not late else execute(sql, params, many, context)
        if fails:
            self.failed += 1
            raise OperationalError("the connection broke")
        return result


@contextmanager
def unreliable(share: float, seed: int) -> Iterator[Unreliable]:
    """Let statements of every thread fail within the block."""
    wrapper = Unreliable(share, seed)

    def wrap(connection: Any, **_: Any) -> None:
        connection.execute_wrappers[:] = [wrapper]

    connection_created.connect(wrap)
    connection.execute_wrappers.append(wrapper)
    try:
        yield wrapper
    finally:
        connection_created.disconnect(wrap)
        for wrapped in connections.all(initialized_only=True):
            wrapped.execute_wrappers.clear()


def insist(project: Project, message: Message) -> None:
    """Send a turn until it is accepted; a failed request has left nothing."""
    turn = NewTurn(
        role=Role.USER, content=message.content, external_id=str(message.number), occurred_at=message.said_at
    )
    submission = Submission(project.id, None, message.user, message.session, (turn,))
    for _ in range(ROUNDS):
        try:
            accept(submission=submission)
        except OperationalError:
            continue
        return
    raise AssertionError("never accepted")


def drain(*, patient: bool) -> None:
    Worker(ports=live(), threads=2, stop=StopFlag(), idle_seconds=0.2 if patient else 0.0, seconds=PATIENCE).run()


def recover(project: Project) -> None:
    """Let waiting work become due, and retry dead work."""
    for user in {message.user for message in MESSAGES}:
        expire(Person(project, user).id)
    for row in OutboxRow.objects.filter(project=project, state=WorkState.DEAD):
        retry_work(project_id=project.id, row_id=row.id)
    for user in {message.user for message in MESSAGES}:
        make_due(Person(project, user).id)


MESSAGES = [message for number in range(USERS) for message in conversation(user=f"person {number}", turns=TURNS)]


def state_of(project: Project) -> Any:
    connection.ensure_connection()
    return final_state(connection.connection, str(project.id))


@pytest.mark.parametrize("share", [0.02, pytest.param(0.05, marks=pytest.mark.soak)])
def test_failing_statements_change_nothing_in_the_end(transactional_db: None, share: float) -> None:
    baseline, stormy = (create_project(name=name, slug=name) for name in ("baseline", "stormy"))
    for message in MESSAGES:
        insist(baseline, message)
    drain(patient=False)
    with unreliable(share, seed=7) as statements:
        for message in MESSAGES:
            insist(stormy, message)
        drain(patient=True)
    assert statements.failed
    for _ in range(TURNS):
        recover(stormy)
        drain(patient=False)
        if not OutboxRow.objects.filter(project=stormy).exclude(state=WorkState.DONE).exists():
            break
    assert state_of(stormy) == state_of(baseline)
