"""Manual operations on queued work: a retry makes it due, discarding it lets the work behind it run."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.outbox import manual, processing
from apps.outbox.models import OutboxRow, UserLease
from apps.pipeline.core.enums import WorkState
from apps.tenants.models import Project
from tests.outbox.outbox_factories import add_work, claim_one, make_user, row

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("state", "may_retry", "may_bury"),
    [
        (WorkState.PENDING, True, True),
        (WorkState.RUNNING, False, True),  # nobody holds the lease: its worker is gone
        (WorkState.DONE, False, False),
        (WorkState.DEAD, True, False),
    ],
)
def test_what_may_be_done_in_which_state(project: Project, state: WorkState, may_retry: bool, may_bury: bool) -> None:
    user = make_user(project)
    retried, buried = (number for _ in range(2) for number in add_work(project, user))
    OutboxRow.objects.update(state=state)

    assert bool(manual.retry(end_user_ids=[user], row_ids=[retried])) is may_retry
    assert manual.discard(end_user_id=user, row_id=buried, error="no use") is may_bury
    assert row(retried).state == (WorkState.PENDING if may_retry else state)
    assert row(buried).state == (WorkState.DEAD if may_bury else state)


def test_work_that_a_worker_is_processing_is_not_discarded(project: Project) -> None:
    user = make_user(project)
    (number,) = add_work(project, user)
    processing.take(lease=claim_one(user), runs=1)

    assert not manual.discard(end_user_id=user, row_id=number, error="no use")
    assert row(number).state == WorkState.RUNNING


def test_work_behind_a_discarded_row_is_next(project: Project) -> None:
    user = make_user(project)
    (first,) = add_work(project, user)
    (second,) = add_work(project, user)
    later = timezone.now() + timedelta(hours=1)
    OutboxRow.objects.filter(id=first).update(run_at=later)
    UserLease.objects.filter(end_user_id=user).update(ready_at=later)

    manual.discard(end_user_id=user, row_id=first, error="no use")

    assert [work.id for work in processing.take(lease=claim_one(user), runs=5)] == [second]


def test_a_retried_row_has_all_its_attempts_again(project: Project) -> None:
    user = make_user(project)
    (number,) = add_work(project, user)
    OutboxRow.objects.filter(id=number).update(state=WorkState.DEAD, attempts=5, finished_at=timezone.now())
    UserLease.objects.filter(end_user_id=user).update(ready_at=None)

    manual.retry(end_user_ids=[user], row_ids=[number])

    (work,) = processing.take(lease=claim_one(user), runs=1)
    assert (work.id, work.attempts) == (number, 1)
    assert row(number).finished_at is None


def test_rows_of_others_are_left_alone(project: Project) -> None:
    user, stranger = make_user(project), make_user(project, "stranger")
    (number,) = add_work(project, user)

    assert not manual.discard(end_user_id=stranger, row_id=number, error="no use")
    assert row(number).state == WorkState.PENDING
