"""Work is enqueued once per subject, and again if it was done before."""

from datetime import timedelta

import pytest
from django.db import transaction

from apps.outbox import enqueue, processing
from apps.outbox.models import OutboxRow, UserLease
from apps.pipeline.core.enums import WorkKind, WorkState
from apps.pipeline.core.identifiers import new_id
from apps.tenants.models import Project
from tests.outbox.outbox_factories import add_work, claim_one, make_user, row

pytestmark = pytest.mark.django_db
INDEX = WorkKind.INDEX_MEMORY


def test_enqueued_work_is_pending_and_makes_its_end_user_ready(project: Project) -> None:
    user = make_user(project)
    (number,) = add_work(project, user)
    assert (row(number).state, row(number).attempts) == (WorkState.PENDING, 0)
    assert UserLease.objects.get(end_user_id=user).ready_at is not None


def test_work_goes_with_its_transaction(project: Project) -> None:
    user = make_user(project)
    with transaction.atomic():
        add_work(project, user)
        transaction.set_rollback(True)
    assert not OutboxRow.objects.exists()
    assert not UserLease.objects.exists()


def test_pending_work_is_not_enqueued_twice(project: Project) -> None:
    user, memory = make_user(project), new_id()
    assert add_work(project, user, memory, kind=INDEX) == add_work(project, user, memory, kind=INDEX)
    assert OutboxRow.objects.count() == 1


def test_many_subjects_are_enqueued_together(project: Project) -> None:
    user = make_user(project)
    enqueue.enqueue(end_user_id=user, project_id=project.id, kind=INDEX, subject_ids=[new_id() for _ in range(50)])
    assert OutboxRow.objects.count() == 50


def test_done_work_is_enqueued_again(project: Project) -> None:
    user, memory = make_user(project), new_id()
    (number,) = add_work(project, user, memory, kind=INDEX)
    lease = claim_one(user)
    processing.finish(lease=lease, work=processing.take(lease=lease, runs=1))
    assert row(number).state == WorkState.DONE
    assert processing.take(lease=lease, runs=1) == []
    long_ago = row(number).created_at - timedelta(hours=1)
    OutboxRow.objects.filter(id=number).update(created_at=long_ago)
    add_work(project, user, memory, kind=INDEX)
    again = row(number)
    assert again.created_at - long_ago >= timedelta(hours=1)  # it waits since now, and is not late
    assert (again.state, again.attempts, again.finished_at) == (WorkState.PENDING, 0, None)
    assert claim_one(user)


def test_work_enqueued_while_it_runs_runs_again(project: Project) -> None:
    """The memory has changed since the worker read it: its vectors would stay those of the old text."""
    user, memory = make_user(project), new_id()
    (number,) = add_work(project, user, memory, kind=INDEX)
    lease = claim_one(user)
    taken = processing.take(lease=lease, runs=1)
    add_work(project, user, memory, kind=INDEX)
    processing.finish(lease=lease, work=taken)
    assert row(number).state == WorkState.PENDING
    assert [work.id for work in processing.take(lease=lease, runs=1)] == [number]


def test_a_failure_does_not_change_work_that_was_enqueued_again(project: Project) -> None:
    user, memory = make_user(project), new_id()
    (number,) = add_work(project, user, memory, kind=INDEX)
    lease = claim_one(user)
    (taken,) = processing.take(lease=lease, runs=1)
    add_work(project, user, memory, kind=INDEX)
    assert processing.fail(lease=lease, work=taken, error="no", most_attempts=1) is None
    assert (row(number).state, row(number).last_error) == (WorkState.PENDING, "")
