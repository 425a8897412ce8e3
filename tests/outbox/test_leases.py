"""Claiming end users: one worker per user, projects in rotation, the longest wait first."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from apps.outbox import leases, processing
from apps.outbox.models import UserLease
from apps.pipeline.core.identifiers import new_id
from apps.tenants.models import Project
from tests.outbox.outbox_factories import add_work, claim, claim_one, expire, make_due, make_user

pytestmark = pytest.mark.django_db


def test_a_ready_user_is_claimed_by_one_worker(project: Project) -> None:
    user = make_user(project)
    add_work(project, user)
    (lease,) = claim()
    assert (lease.end_user_id, lease.project_id) == (user, project.id)
    assert claim() == []


def test_a_user_without_work_is_not_claimed(project: Project) -> None:
    make_user(project)
    assert claim() == []


def test_what_is_ready_later_waits(project: Project) -> None:
    user = make_user(project)
    add_work(project, user)
    UserLease.objects.update(ready_at=timezone.now() + timedelta(hours=1))
    assert claim() == []


def test_the_user_of_a_dead_worker_is_taken_over_after_the_lease(project: Project) -> None:
    user = make_user(project)
    add_work(project, user)
    dead = claim_one(user)
    expire(user)
    living = claim_one(user)
    assert living.token != dead.token


def test_work_that_never_came_to_an_end_is_suspect(project: Project) -> None:
    user = make_user(project)
    add_work(project, user)
    lease = claim_one(user)
    assert not lease.is_retry_after_crash
    expire(user)
    assert not claim_one(user).is_retry_after_crash, "it had not begun"
    expire(user)
    lease = claim_one(user)
    processing.take(lease=lease, runs=1)
    expire(user)
    assert claim_one(user).is_retry_after_crash


def test_work_that_failed_is_not_suspect(project: Project) -> None:
    user = make_user(project)
    add_work(project, user)
    lease = claim_one(user)
    (work,) = processing.take(lease=lease, runs=1)
    processing.fail(lease=lease, work=work, error="no", most_attempts=5)
    make_due(user)
    expire(user)
    assert not claim_one(user).is_retry_after_crash


def test_renewing_keeps_the_lease(project: Project) -> None:
    user = make_user(project)
    add_work(project, user)
    lease = claim_one(user)
    expire(user)
    leases.renew(held=[lease], seconds=60)
    assert claim() == []


def test_renewing_leaves_others_alone(project: Project) -> None:
    user = make_user(project)
    add_work(project, user)
    lease = claim_one(user)
    expire(user)
    leases.renew(held=[replace(lease, token=new_id())], seconds=60)
    assert len(claim()) == 1


def test_renewing_leaves_users_alone_whom_nobody_works_for_any_more(project: Project) -> None:
    """A worker's thread has failed: the user must not stay leased for as long as the worker lives."""
    user = make_user(project)
    add_work(project, user)
    claim_one(user)
    expire(user)
    leases.renew(held=[], seconds=60)
    assert len(claim()) == 1


def test_only_as_many_as_wanted(project: Project) -> None:
    for number in range(5):
        add_work(project, make_user(project, f"user {number}"))
    assert len(claim(limit=2)) == 2
    assert len(claim(limit=9)) == 3


def test_who_has_waited_longest_comes_first(project: Project) -> None:
    users = [make_user(project, name) for name in ("late", "early", "later")]
    for minutes, user in zip((2, 9, 1), users, strict=True):
        add_work(project, user)
        waits_since = timezone.now() - timedelta(minutes=minutes)
        UserLease.objects.filter(end_user_id=user).update(ready_at=waits_since)
    order = [claim(limit=1)[0].end_user_id for _ in users]
    assert order == [users[1], users[0], users[2]]


def test_one_user_can_be_asked_for(project: Project) -> None:
    users = [make_user(project, name) for name in ("ana", "bo")]
    for user in users:
        add_work(project, user)
    assert [lease.end_user_id for lease in claim(only=users[1])] == [users[1]]


def test_a_flooding_project_starves_nobody(project: Project, other_project: Project) -> None:
    for number in range(50):
        add_work(project, make_user(project, f"user {number}"))
    quiet = [make_user(other_project, name) for name in ("ana", "bo")]
    for user in quiet:
        add_work(other_project, user)
    long_ago = timezone.now() - timedelta(hours=1)
    UserLease.objects.filter(project=project).update(ready_at=long_ago)
    assert set(quiet) <= {lease.end_user_id for lease in claim(limit=4)}


def test_a_project_whose_users_are_worked_on_gives_way(project: Project, other_project: Project) -> None:
    busy = [make_user(project, f"user {number}") for number in range(3)]
    for user in busy:
        add_work(project, user)
    claim_one(busy[0])
    guest = make_user(other_project)
    add_work(other_project, guest)
    assert [lease.end_user_id for lease in claim(limit=1)] == [guest]
