"""A worker does the due work of many users concurrently, stops gracefully and survives an outage."""

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError, connection
from structlog.testing import capture_logs

from apps.memories.live_ports import live
from apps.outbox import leases
from apps.outbox.models import OutboxRow, UserLease, WorkerHeartbeat
from apps.pipeline.core.enums import TraceStatus, WorkKind
from apps.tenants.models import Project
from apps.worker import work as work_module
from apps.worker.process_user import process_user
from apps.worker.shutdown import StopFlag
from tests.outbox.outbox_factories import make_due
from tests.worker.worker_helper import PATIENCE, Person, broken, interrupted, make_worker

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people(project: Project) -> list[Person]:
    return [Person(project, f"person {number}") for number in range(6)]


def test_all_that_is_due_is_done(people: list[Person]) -> None:
    for person in people:
        person.says("I live in Lisbon.")
        person.says("I work as a nurse.")
    assert make_worker(live()).run() == OutboxRow.objects.count()
    assert all(person.statuses() == [TraceStatus.DONE] * 2 for person in people)
    assert not WorkerHeartbeat.objects.get().is_working
    people[0].says("I live in Porto.")
    make_worker(live()).run()  # as the same process does a minute later
    assert WorkerHeartbeat.objects.get().done == OutboxRow.objects.count()


def test_users_are_processed_at_the_same_time(people: list[Person]) -> None:
    """Four threads wait for each other before they embed, so in sequence they would never finish."""
    together = threading.Barrier(4, timeout=PATIENCE)
    met = threading.local()

    def meet(_: object) -> None:
        if not getattr(met, "once", False):
            met.once = True
            together.wait()

    for person in people[:4]:
        person.says("I live in Lisbon.")
    make_worker(interrupted(meet)).run()
    assert all(person.statuses() == [TraceStatus.DONE] for person in people[:4])


def test_failing_work_does_not_delay_other_users(people: list[Person]) -> None:
    unlucky, *others = people
    unlucky.says("I live in Porto.")
    for person in others:
        person.says("I live in Lisbon.")
    make_worker(broken("Porto")).run()
    assert unlucky.statuses() == [TraceStatus.QUEUED]
    assert all(person.statuses() == [TraceStatus.DONE] for person in others)


def test_work_that_was_interrupted_commits_nothing_though_the_same_worker_claims_the_user_again(
    people: list[Person],
) -> None:
    """What a run has computed from may be withdrawn; it is done again from what is stored then, at no attempt."""
    ana, first = people[0], threading.Lock()

    def interrupt(_: object) -> None:
        if first.acquire(blocking=False):
            leases.interrupt(end_user_id=ana.id)
            until = time.monotonic() + PATIENCE
            while not UserLease.objects.filter(lease_token__isnull=False).exists() and time.monotonic() < until:
                time.sleep(0.01)  # there is no notification of a claim

    ana.says("I live in Lisbon.")
    with capture_logs() as logs:
        make_worker(interrupted(interrupt)).run()
    assert [each["event"] for each in logs if each["log_level"] == "warning"] == ["lease lost"]
    assert OutboxRow.objects.get(kind=WorkKind.RUN_PIPELINE).attempts == 1
    assert ana.statuses() == [TraceStatus.DONE]
    assert ana.memories() != []


@pytest.fixture
def started(settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The end users in the order in which threads start with them; slices end with each batch."""
    order: list[str] = []

    def note(**given: Any) -> int:
        order.append(str(given["lease"].end_user_id))
        return process_user(**given)

    settings.WORK_SLICE_SECONDS = 1e-9
    monkeypatch.setattr(work_module, "process_user", note)
    return order


def test_users_take_turns_where_more_wait_than_threads_work(people: list[Person], started: list[str]) -> None:
    for session in ("monday", "tuesday"):
        for person in people[:2]:
            person.says("I live in Lisbon.", session=session)
    make_worker(live(), threads=1).run()
    ana, ben = (str(person.id) for person in people[:2])
    assert started[:4] == [ana, ben, ana, ben]


def test_a_worker_with_idle_time_survives_an_outage(people: list[Person]) -> None:
    outage = Outage(statements=3)
    stop = StopFlag()
    people[0].says("I live in Lisbon.")
    with connection.execute_wrapper(outage), stopped_when(lambda: people[0].memories() != [], stop):
        make_worker(live(), stop=stop, idle=PATIENCE).run()
    assert outage.left == 0
    assert people[0].statuses() == [TraceStatus.DONE]


def test_a_worker_without_idle_time_raises_an_outage(people: list[Person]) -> None:
    people[0].says("I live in Lisbon.")
    with connection.execute_wrapper(Outage(statements=3)), pytest.raises(OperationalError):
        make_worker(live()).run()
    make_worker(live()).run()
    assert people[0].statuses() == [TraceStatus.DONE]


def test_work_of_a_worker_that_loses_its_connection_is_left_to_the_next(people: list[Person]) -> None:
    def lose_it(_: object) -> None:
        with connection.cursor() as cursor, contextlib.suppress(OperationalError):
            cursor.execute("select pg_terminate_backend(pg_backend_pid())")

    people[0].says("I live in Lisbon.")
    make_worker(interrupted(lose_it)).run()
    assert people[0].statuses() == [TraceStatus.QUEUED]
    make_due(people[0].id)
    make_worker(live()).run()
    assert people[0].statuses() == [TraceStatus.DONE]


class Outage:
    """Fails the first statements of this thread's connection."""

    def __init__(self, *, statements: int) -> None:
        self.left = statements

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if self.left:
            self.left -= 1
            raise OperationalError("the server closed the connection unexpectedly")
        return execute(sql, params, many, context)


class stopped_when:  # noqa: N801  (reads as a word at its call)
    """Set a stop flag from another thread when a condition is true, or after a timeout."""

    def __init__(self, done: Callable[[], bool], stop: StopFlag) -> None:
        self._done, self._stop = done, stop
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._thread.join()

    def _watch(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while not self._done() and time.monotonic() < deadline:
            time.sleep(0.02)  # there is no notification of a new row
        self._stop.set()
        connection.close()
