"""Two concurrent connections: no work is done twice, and no work that is added in between is lost."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import UUID

import pytest
from django.db import connection, transaction

from apps.outbox import leases, manual, processing
from apps.outbox.leased import LostLease
from apps.outbox.leases import Lease
from apps.outbox.models import UserLease
from apps.outbox.processing import NextWork
from apps.pipeline.core.enums import WorkKind, WorkState
from apps.tenants.models import Project
from tests.outbox.outbox_factories import add_work, claim, claim_one, expire, finish, make_user, row
from tests.outbox.second_connection import Aside

pytestmark = pytest.mark.django_db(transaction=True)


def test_workers_at_the_same_time_claim_different_users(project: Project) -> None:
    users = {make_user(project, f"user {number}") for number in range(40)}
    for user in users:
        add_work(project, user)
    together = Barrier(4)

    def claim_some(_: int) -> list[UUID]:
        try:
            together.wait()
            return [lease.end_user_id for _ in range(20) for lease in claim(limit=3)]
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        claimed = [user for found in pool.map(claim_some, range(4)) for user in found]
    assert len(claimed) == len(set(claimed))
    assert set(claimed) | {lease.end_user_id for lease in claim()} == users


def test_a_user_whose_lease_is_being_written_is_passed_over(project: Project) -> None:
    user = make_user(project)
    add_work(project, user)
    with transaction.atomic():
        UserLease.objects.select_for_update().get(end_user_id=user)
        assert Aside(claim).run().end().result == []
    assert len(claim()) == 1


@pytest.mark.parametrize("place", range(8))
def test_work_that_is_added_during_the_give_back_is_not_lost(project: Project, place: int) -> None:
    user = make_user(project)
    add_work(project, user)
    lease = claim_one(user)
    finish(lease, processing.take(lease=lease, runs=1))
    giving_back = Aside(lambda: processing.take(lease=lease, runs=1), pause_before=place).run()
    adding = Aside(lambda: add_work(project, user)).run()
    assert (giving_back.end().error, adding.end().error) == (None, None)
    assert _next(lease, giving_back.result, user) == adding.result


def _next(lease: Lease, taken: list[NextWork], user: UUID) -> list[int]:
    """Return the work that was taken, or else the work that the next worker finds."""
    found = taken or processing.take(lease=claim_one(user), runs=1)
    return [work.id for work in found]


@pytest.mark.parametrize("place", range(8))
def test_work_that_is_added_during_a_release_is_not_lost(project: Project, place: int) -> None:
    user = make_user(project)
    add_work(project, user)
    lease = claim_one(user)
    finish(lease, processing.take(lease=lease, runs=1))
    releasing = Aside(lambda: leases.release(lease=lease), pause_before=place).run()
    adding = Aside(lambda: add_work(project, user)).run()
    assert (releasing.end().error, adding.end().error) == (None, None)
    assert [work.id for work in processing.take(lease=claim_one(user), runs=1)] == adding.result


@pytest.mark.parametrize("place", range(2))
def test_work_that_is_discarded_while_it_is_taken_is_not_started(project: Project, place: int) -> None:
    user = make_user(project)
    (given_up,), (next_one,) = add_work(project, user), add_work(project, user)
    lease = claim_one(user)
    taking = Aside(lambda: processing.take(lease=lease, runs=1), pause_before=place).run()
    assert manual.discard(end_user_id=user, row_id=given_up, error="no")
    assert [work.id for work in taking.end().result] == [next_one]
    assert row(given_up).state == WorkState.DEAD


@pytest.mark.parametrize("place", range(2))
def test_one_whose_lease_goes_while_it_takes_begins_nothing(project: Project, place: int) -> None:
    user = make_user(project)
    (number,) = add_work(project, user)
    slow = claim_one(user)
    taking = Aside(lambda: processing.take(lease=slow, runs=1), pause_before=place).run()
    expire(user)
    claim_one(user)
    assert isinstance(taking.end().error, LostLease)
    assert row(number).attempts == 0


def test_one_that_lost_its_lease_while_it_waited_commits_nothing(project: Project) -> None:
    """The worker waits at its finish while another takes over; then it must not go on."""
    user = make_user(project)
    add_work(project, user)
    slow = claim_one(user)
    work = processing.take(lease=slow, runs=1)

    def finish_slowly() -> None:
        with transaction.atomic():
            add_work(project, user, kind=WorkKind.INDEX_MEMORY)  # stands for the effects
            processing.finish(lease=slow, work=work)

    slowly = Aside(finish_slowly, pause_before=0).run()
    expire(user)
    quick = claim_one(user)
    assert isinstance(slowly.end().error, LostLease)
    taken = processing.take(lease=quick, runs=1)
    assert [each.id for each in taken] == [each.id for each in work]
    finish(quick, taken)
    assert processing.take(lease=quick, runs=1) == []


def test_a_takeover_waits_for_a_commit_that_has_begun(project: Project) -> None:
    """A worker's lease expires between `finish` and commit: no other worker claims the user before the commit."""
    user = make_user(project)
    add_work(project, user)
    slow = claim_one(user)
    work = processing.take(lease=slow, runs=1)
    expire(user)
    with transaction.atomic():
        processing.finish(lease=slow, work=work)
        assert Aside(claim).run().end().result == []
    assert processing.take(lease=claim_one(user), runs=1) == []
