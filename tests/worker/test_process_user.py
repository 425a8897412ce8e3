"""Work that fails is retried and finally dead; other work is not affected."""

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError, connection

from apps.memories.live_ports import live
from apps.memories.models import Memory
from apps.outbox import processing
from apps.outbox.models import OutboxRow, UserLease
from apps.pipeline.core.enums import TraceStatus, WorkKind, WorkState
from apps.tenants.models import Project
from apps.traces.models import Trace
from apps.worker.process_user import process_user
from tests.outbox.outbox_factories import claim, claim_one, expire, make_due
from tests.worker.worker_helper import Person, broken, interrupted

pytestmark = pytest.mark.django_db


def run_of(person: Person) -> OutboxRow:
    return OutboxRow.objects.filter(end_user_id=person.id, kind=WorkKind.RUN_PIPELINE).order_by("id")[0]


def test_after_its_slice_a_user_gives_way_and_is_claimed_again(ana: Person) -> None:
    ana.says("I live in Lisbon.", session="monday")
    ana.says("I work as a nurse.", session="tuesday")
    (lease,) = claim(only=ana.id)
    assert process_user(lease=lease, ports=live(), seconds=0) == 1
    assert ana.statuses() == [TraceStatus.DONE, TraceStatus.QUEUED]
    lease_row = UserLease.objects.get(end_user_id=ana.id)
    assert (lease_row.lease_token, lease_row.ready_at is None) == (None, False)
    ana.is_worked_for()
    assert ana.statuses() == [TraceStatus.DONE] * 2


def test_a_failing_run_waits_with_its_error_and_succeeds_later(ana: Person) -> None:
    ana.says("I live in Lisbon.")
    ana.is_worked_for(broken("Lisbon"))
    assert (run_of(ana).state, run_of(ana).attempts) == (WorkState.PENDING, 1)
    trace = Trace.objects.get()
    assert (trace.status, trace.error) == (TraceStatus.QUEUED, run_of(ana).last_error)
    assert trace.error.startswith("Broken")
    make_due(ana.id)
    ana.is_worked_for()
    trace.refresh_from_db()
    assert (trace.status, trace.error, len(ana.memories())) == (TraceStatus.DONE, "", 1)


def test_it_is_dead_after_its_attempts_and_the_next_run_goes_on(ana: Person) -> None:
    ana.says("I live in Lisbon.")
    ana.says("I work as a nurse.")
    for _ in range(settings.WORK_MAX_ATTEMPTS):
        make_due(ana.id)
        ana.is_worked_for(broken("Lisbon"))
    assert ana.statuses() == [TraceStatus.DEAD, TraceStatus.DONE]
    assert run_of(ana).state == WorkState.DEAD
    assert Trace.objects.get(status=TraceStatus.DEAD).finished_at is not None


def test_runs_wait_behind_one_that_waits(ana: Person) -> None:
    ana.says("I live in Lisbon.")
    ana.is_worked_for(broken("Lisbon"))
    ana.says("I work as a nurse.")
    make_due(ana.id)
    OutboxRow.objects.filter(id=run_of(ana).id).update(run_at="2100-01-01T00:00Z")
    ana.is_worked_for()
    assert ana.statuses() == [TraceStatus.QUEUED, TraceStatus.QUEUED]


def test_a_run_that_kills_its_workers_is_dead_and_other_work_finishes(ana: Person, project: Project) -> None:
    neighbours = [Person(project, f"neighbour {number}") for number in range(5)]
    for person in (ana, *neighbours):
        person.says("I live in Lisbon.")
    for _ in range(settings.WORK_MAX_ATTEMPTS):
        processing.take(lease=claim_one(ana.id), runs=1)  # and the worker dies
        expire(ana.id)
    for lease in claim():
        process_user(lease=lease, ports=live())
    assert ana.statuses() == [TraceStatus.DEAD]
    assert "WorkerDied" in run_of(ana).last_error
    assert run_of(ana).state == WorkState.DEAD
    assert all(person.statuses() == [TraceStatus.DONE] for person in neighbours)


def test_a_lost_lease_writes_nothing(ana: Person) -> None:
    ana.says("I live in Lisbon.")

    def lose_it(_: object) -> None:
        expire(ana.id)
        claim_one(ana.id)

    assert ana.is_worked_for(interrupted(lose_it)) == 0
    assert not Memory.objects.exists()
    assert run_of(ana).state == WorkState.RUNNING
    assert ana.statuses() == [TraceStatus.QUEUED]


def test_a_row_and_its_trace_are_put_back_together(ana: Person) -> None:
    """Otherwise a row could be dead while its trace stays queued."""
    ana.says("I live in Lisbon.")
    lease = claim_one(ana.id)
    with connection.execute_wrapper(failing('UPDATE "traces_trace"')), pytest.raises(OperationalError):
        process_user(lease=lease, ports=broken("Lisbon"))
    assert run_of(ana).state == WorkState.RUNNING


def failing(start: str) -> Callable[..., Any]:
    """Return a wrapper that fails statements which begin like this."""

    def execute(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith(start):
            raise OperationalError("the connection is gone")
        return execute(sql, params, many, context)

    return execute
