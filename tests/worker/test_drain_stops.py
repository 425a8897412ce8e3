"""A drain that is asked to stop ends, and gives back what it has not finished."""

import signal
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.db import OperationalError, connection, transaction
from structlog.testing import capture_logs

from apps.actions.live_ports import live
from apps.outbox import leases
from apps.outbox.leases import Lease
from apps.outbox.models import OutboxRow, UserLease
from apps.pipeline.core.enums import TraceStatus, WorkState
from apps.tenants.models import Project
from apps.worker import drain as drain_module
from apps.worker.shutdown import StopFlag
from tests.outbox.second_connection import Aside
from tests.worker.worker_helper import PATIENCE, Person, interrupted, make_drain

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people(project: Project) -> list[Person]:
    return [Person(project, f"person {number}") for number in range(6)]


def test_a_stopped_drain_finishes_work_in_flight_and_releases_the_rest(people: list[Person]) -> None:
    stop = StopFlag()
    for person in people:
        person.says("I live in Lisbon.", session="monday")
        person.says("I work as a nurse.", session="tuesday")
    make_drain(interrupted(lambda _: stop.set()), stop=stop, threads=1).run()
    done = OutboxRow.objects.filter(state=WorkState.DONE).count()
    assert 1 <= done < OutboxRow.objects.count()
    assert not OutboxRow.objects.filter(state=WorkState.RUNNING).exists()
    assert not UserLease.objects.filter(token__isnull=False).exists()
    make_drain(live()).run()
    assert all(person.statuses() == [TraceStatus.DONE] * 2 for person in people)


def test_a_signal_at_the_end_of_a_wait_does_not_prolong_it() -> None:
    """A wait of queue.SimpleQueue that a signal interrupts when its time is over never ends (Python 3.11)."""
    drain, given_up = make_drain(live()), time.monotonic() + PATIENCE
    drain.in_flight = {Future(): Lease(uuid4(), uuid4(), uuid4())}

    def interrupt(*_: object) -> None:
        assert time.monotonic() < given_up, "a wait does not end"

    former = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    try:
        for _ in range(1_000):
            drain._collect(timeout=0.0007)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, former)


@pytest.mark.parametrize(("sqlstate", "kept"), [("55P03", 1), ("57P01", 3)], ids=["locked", "database away"])
def test_a_stop_releases_what_it_can(
    people: list[Person], monkeypatch: pytest.MonkeyPatch, sqlstate: str, kept: int
) -> None:
    """A lease that can't be released expires by itself; the others are released, unless the database is away."""
    for person in people[:3]:
        person.says("I live in Lisbon.")
    drain = make_drain(live(), threads=3)
    monkeypatch.setattr(drain_module, "GRACE_SECONDS", 0.0)
    drain.stop.set()
    drain.in_flight = {Future(): lease for lease in leases.claim(limit=3, seconds=60)}
    with connection.execute_wrapper(FailOnce("update outbox_outboxrow", sqlstate)), capture_logs() as logged:
        drain._finish()
    assert UserLease.objects.filter(token__isnull=False).count() == kept
    assert [line["event"] for line in logged] == ["lease not released"]


def test_a_lease_that_others_hold_locked_keeps_no_other(people: list[Person], monkeypatch: pytest.MonkeyPatch) -> None:
    for person in people[:3]:
        person.says("I live in Lisbon.")
    drain = make_drain(live(), threads=3)
    monkeypatch.setattr(drain_module, "GRACE_SECONDS", 0.0)
    drain.stop.set()
    held = leases.claim(limit=3, seconds=60)
    drain.in_flight = {Future(): lease for lease in held}
    with transaction.atomic():
        UserLease.objects.select_for_update().get(end_user_id=held[0].end_user_id)
        ended = Aside(drain._finish).run().end()
    assert ended.error is None
    assert list(UserLease.objects.filter(token__isnull=False).values_list("end_user_id")) == [(held[0].end_user_id,)]


class FailOnce:
    """Fails the first statement that has this text in it."""

    def __init__(self, text: str, sqlstate: str) -> None:
        self._text, self._error = text, psycopg.errors.lookup(sqlstate)
        self._has_failed = False

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if self._text in sql and not self._has_failed:
            self._has_failed = True
            raise OperationalError("failed on purpose") from self._error()
        return execute(sql, params, many, context)
