"""What fails waits longer each time, and is dead after its last attempt with its last error."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.outbox import processing
from apps.outbox.processing import LEAST_BACKOFF, MOST_BACKOFF, backoff
from apps.pipeline.core.enums import WorkState
from apps.pipeline.core.identifiers import new_id
from apps.tenants.models import Project
from tests.outbox.outbox_factories import add_work, claim, claim_one, make_due, make_user, row


@pytest.mark.parametrize(
    ("attempts", "least"),
    [(1, LEAST_BACKOFF), (2, 2 * LEAST_BACKOFF), (5, 16 * LEAST_BACKOFF), (30, MOST_BACKOFF), (0, LEAST_BACKOFF)],
)
def test_the_wait_doubles_with_jitter_up_to_its_most(attempts: int, least: timedelta) -> None:
    waits = {backoff(attempts=attempts) for _ in range(50)}
    assert all(least <= wait <= 1.5 * least for wait in waits)
    assert len(waits) > 1


@pytest.mark.django_db
def test_it_waits_then_is_dead_with_its_last_error(project: Project) -> None:
    user = make_user(project)
    (number,) = add_work(project, user)
    for attempt in (1, 2, 3):
        make_due(user)
        lease = claim_one(user)
        (work,) = processing.take(lease=lease, runs=1)
        failed = processing.fail(lease=lease, work=work, error=f"error {attempt}", most_attempts=3)
        assert failed is not None
        assert failed.state == (WorkState.DEAD if attempt == 3 else WorkState.PENDING)
        assert processing.take(lease=lease, runs=1) == []
    buried = row(number)
    assert (buried.state, buried.attempts, buried.last_error) == (WorkState.DEAD, 3, "error 3")
    assert buried.finished_at is not None
    assert claim() == []


@pytest.mark.django_db
def test_it_is_not_due_before_its_wait_is_over(project: Project) -> None:
    user = make_user(project)
    (number,) = add_work(project, user)
    lease = claim_one(user)
    (work,) = processing.take(lease=lease, runs=1)
    before = timezone.now()
    processing.fail(lease=lease, work=work, error="no", most_attempts=3)
    assert row(number).run_at > before
    assert processing.take(lease=lease, runs=1) == []


@pytest.mark.django_db
def test_behind_dead_work_the_next_goes_on(project: Project) -> None:
    user, session = make_user(project), new_id()
    _, second = (add_work(project, user, session=session)[0] for _ in range(2))
    lease = claim_one(user)
    (work,) = processing.take(lease=lease, runs=1)
    processing.fail(lease=lease, work=work, error="no", most_attempts=1)
    assert [each.id for each in processing.take(lease=lease, runs=1)] == [second]


@pytest.mark.django_db
def test_a_long_error_is_cut(project: Project) -> None:
    user = make_user(project)
    (number,) = add_work(project, user)
    lease = claim_one(user)
    (work,) = processing.take(lease=lease, runs=1)
    processing.fail(lease=lease, work=work, error="x" * 100_000, most_attempts=3)
    assert len(row(number).last_error) == 4_000
