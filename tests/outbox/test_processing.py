"""Taking work: attempts are counted before it starts, and a lease without due work is given back."""

import pytest

from apps.outbox import leases, processing
from apps.outbox.leased import LostLease
from apps.outbox.models import UserLease
from apps.pipeline.core.enums import WorkKind, WorkState
from apps.pipeline.core.identifiers import new_id
from apps.tenants.models import Project
from tests.outbox.outbox_factories import add_work, claim, claim_one, expire, finish, make_user, row

pytestmark = pytest.mark.django_db


def test_an_attempt_is_counted_when_it_starts(project: Project) -> None:
    user = make_user(project)
    (number,) = add_work(project, user)
    (work,) = processing.take(lease=claim_one(user), runs=1)
    assert (work.id, work.attempts) == (number, 1)
    assert (row(number).state, row(number).attempts) == (WorkState.RUNNING, 1)


def test_work_of_a_dead_worker_is_taken_again_and_counted_again(project: Project) -> None:
    user = make_user(project)
    (number,) = add_work(project, user)
    processing.take(lease=claim_one(user), runs=1)
    expire(user)
    (work,) = processing.take(lease=claim_one(user), runs=1)
    assert (work.id, work.attempts) == (number, 2)


def test_runs_come_in_the_order_of_acceptance(project: Project) -> None:
    user, session = make_user(project), new_id()
    numbers = [add_work(project, user, session=session)[0] for _ in range(5)]
    add_work(project, user, kind=WorkKind.INDEX_MEMORY)
    assert [work.id for work in processing.take(lease=claim_one(user), runs=10)] == numbers


def test_other_peoples_work_is_not_taken(project: Project) -> None:
    ana, bo = make_user(project), make_user(project, "bo")
    (mine,) = add_work(project, ana)
    add_work(project, bo)
    lease = claim_one(ana)
    work = processing.take(lease=lease, runs=10)
    assert [each.id for each in work] == [mine]
    processing.finish(lease=lease, work=work)
    assert processing.take(lease=lease, runs=10) == []


def test_without_due_work_the_lease_is_given_back(project: Project) -> None:
    user = make_user(project)
    add_work(project, user)
    lease = claim_one(user)
    finish(lease, processing.take(lease=lease, runs=1))
    assert processing.take(lease=lease, runs=1) == []
    kept = UserLease.objects.get(end_user_id=user)
    assert (kept.lease_token, kept.leased_until, kept.ready_at) == (None, None, None)
    with pytest.raises(LostLease):
        processing.take(lease=lease, runs=1)


def test_a_given_back_lease_is_ready_when_its_first_run_is(project: Project) -> None:
    user, session = make_user(project), new_id()
    (first,) = add_work(project, user, session=session)
    add_work(project, user, session=session)
    lease = claim_one(user)
    work = processing.take(lease=lease, runs=1)
    processing.fail(lease=lease, work=work[0], error="no", most_attempts=5)
    assert processing.take(lease=lease, runs=1) == []
    assert UserLease.objects.get(end_user_id=user).ready_at == row(first).run_at
    assert claim() == []


def test_a_released_lease_is_ready_at_once(project: Project) -> None:
    user = make_user(project)
    (number,) = add_work(project, user)
    lease = claim_one(user)
    processing.take(lease=lease, runs=1)
    leases.release(lease=lease)
    assert [work.id for work in processing.take(lease=claim_one(user), runs=1)] == [number]


def test_a_lost_lease_takes_finishes_fails_and_releases_nothing(project: Project) -> None:
    user = make_user(project)
    (number,) = add_work(project, user)
    lost = claim_one(user)
    work = processing.take(lease=lost, runs=1)
    expire(user)
    living = claim_one(user)
    with pytest.raises(LostLease):
        processing.take(lease=lost, runs=1)
    with pytest.raises(LostLease):
        processing.finish(lease=lost, work=work)
    assert processing.fail(lease=lost, work=work[0], error="no", most_attempts=1) is None
    leases.release(lease=lost)
    assert UserLease.objects.get(end_user_id=user).lease_token == living.token
    assert row(number).state == WorkState.RUNNING
