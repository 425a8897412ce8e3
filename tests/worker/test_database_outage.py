"""A database that fails costs no attempt; work is put back as soon as the database takes it."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db import DataError, InterfaceError, InternalError, OperationalError, connection
from psycopg.errors import ReadOnlySqlTransaction

from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import TraceStatus, WorkState
from apps.pipeline.core.ports import Ports
from apps.worker import failures
from tests.outbox.outbox_factories import let_pass, make_due
from tests.worker.worker_helper import Person, interrupted

pytestmark = pytest.mark.django_db


def failing_with(error: Exception) -> Ports:
    def fail(_: Sequence[str]) -> None:
        raise error

    return interrupted(fail)


def read_only() -> InternalError:
    error = InternalError("cannot execute UPDATE in a read-only transaction")
    error.__cause__ = ReadOnlySqlTransaction()
    return error


@pytest.mark.parametrize(
    "error", [OperationalError("could not extend file: No space left"), InterfaceError("closed"), read_only()]
)
def test_it_costs_no_attempt_however_often_it_fails(ana: Person, error: Exception) -> None:
    ana.says("I live in Lisbon.")
    for _ in range(12):
        ana.is_worked_for(failing_with(error))
        make_due(ana.id)
    row = OutboxRow.objects.get()
    assert (row.state, row.attempts, ana.statuses()) == (WorkState.PENDING, 0, [TraceStatus.QUEUED])
    assert str(error) in row.last_error
    ana.is_worked_for()
    assert ana.statuses() == [TraceStatus.DONE]


def test_it_waits_as_long_again_as_it_has_waited(ana: Person) -> None:
    ana.says("I live in Lisbon.")
    ana.is_worked_for(failing_with(OperationalError("away")))
    row = OutboxRow.objects.get()
    first = row.run_at - row.waiting_since
    assert timedelta(seconds=0.9) < first < timedelta(seconds=2)
    let_pass(timedelta(seconds=60))
    ana.is_worked_for(failing_with(OperationalError("away")))
    row.refresh_from_db()
    assert timedelta(seconds=119) < row.run_at - row.waiting_since < timedelta(seconds=170)


def test_after_three_days_it_is_dead(ana: Person) -> None:
    ana.says("I live in Lisbon.")
    ana.is_worked_for(failing_with(OperationalError("away")))
    let_pass(timedelta(days=3, minutes=1))
    ana.is_worked_for(failing_with(OperationalError("away")))
    assert ana.statuses() == [TraceStatus.DEAD]
    assert OutboxRow.objects.get().last_error.endswith("away; given up after 3 days")


def test_an_error_of_the_data_is_the_works_own(ana: Person) -> None:
    ana.says("I live in Lisbon.")
    ana.is_worked_for(failing_with(DataError("out of range")))
    assert OutboxRow.objects.get().attempts == 1


@pytest.mark.django_db(transaction=True)
def test_work_is_put_back_once_the_database_is_reached_again(ana: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "RECONNECT_SECONDS", 0.0)
    away = {"statements": 3}

    def refuse(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "waiting_since" in sql:
            away["statements"] -= 1
            if away["statements"] >= 0:
                raise OperationalError("the server closed the connection")
        return execute(sql, params, many, context)

    ana.says("I live in Lisbon.")

    def break_off(_: Sequence[str]) -> None:
        breaking.__enter__()
        raise OperationalError("the server closed the connection")

    breaking = connection.execute_wrapper(refuse)
    ana.is_worked_for(interrupted(break_off))
    breaking.__exit__(None, None, None)
    assert away["statements"] < 0
    assert (OutboxRow.objects.get().state, OutboxRow.objects.get().attempts) == (WorkState.PENDING, 0)
