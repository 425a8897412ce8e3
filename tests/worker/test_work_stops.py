"""A worker that is asked to stop ends, and gives back what it has not finished."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection
from structlog.testing import capture_logs

from apps.memories.live_ports import live
from apps.outbox import leases
from apps.outbox.models import OutboxRow, UserLease
from apps.pipeline.core.enums import TraceStatus, WorkState
from apps.tenants.models import Project
from apps.worker import work as work_module
from apps.worker.shutdown import StopFlag
from tests.worker.worker_helper import Person, interrupted, make_worker

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people(project: Project) -> list[Person]:
    return [Person(project, f"person {number}") for number in range(6)]


def test_a_stopped_drain_finishes_work_in_flight_and_releases_the_rest(people: list[Person]) -> None:
    stop = StopFlag()
    for person in people:
        person.says("I live in Lisbon.", session="monday")
        person.says("I work as a nurse.", session="tuesday")
    make_worker(interrupted(lambda _: stop.set()), stop=stop, threads=1).run()
    done = OutboxRow.objects.filter(state=WorkState.DONE).count()
    assert 1 <= done < OutboxRow.objects.count()
    assert not OutboxRow.objects.filter(state=WorkState.RUNNING).exists()
    assert not UserLease.objects.filter(lease_token__isnull=False).exists()
    make_worker(live()).run()
    assert all(person.statuses() == [TraceStatus.DONE] * 2 for person in people)


def test_a_stop_releases_what_it_can(people: list[Person], monkeypatch: pytest.MonkeyPatch) -> None:
    """A lease that can't be released expires by itself; the others are released."""
    for person in people[:3]:
        person.says("I live in Lisbon.")
    worker = make_worker(live(), threads=3)
    monkeypatch.setattr(work_module, "GRACE_SECONDS", 0.0)
    worker.stop.set()
    worker.users = {Future(): lease for lease in leases.claim(limit=3, seconds=60)}
    with connection.execute_wrapper(FailOnce('UPDATE "outbox_outboxrow"', "55P03")), capture_logs() as logged:
        worker._finish()
    assert UserLease.objects.filter(lease_token__isnull=False).count() == 1
    assert [line["event"] for line in logged] == ["lease not released"]


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
