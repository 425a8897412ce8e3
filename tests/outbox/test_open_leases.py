"""A look at all open leases, as on several servers, finds the same users as one by queues."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from apps.outbox import ready_users
from apps.outbox.models import ModelPause, UserLease
from apps.outbox.ready_users import look_at_open_leases, look_by_queues
from apps.pipeline.core.enums import PausedKind
from apps.pipeline.core.identifiers import new_id
from apps.tenants.models import Project
from tests.outbox.outbox_factories import add_work, make_user

pytestmark = pytest.mark.django_db
MODEL = "anthropic:one"
OUTAGE_SECONDS = 3_600.0


def user_of(project: Project, name: str, *, waited: float, waits_for: str = "", leased: float | None = None) -> UUID:
    """Make a user who has been ready for so many seconds, and is leased for so many more."""
    user, now = make_user(project, name), timezone.now()
    add_work(project, user)
    until = None if leased is None else now + timedelta(seconds=leased)
    UserLease.objects.filter(end_user_id=user).update(
        ready_at=now - timedelta(seconds=waited),
        waits_for=waits_for,
        leased_until=until,
        token=None if until is None else new_id(),
    )
    return user


def pause(project: Project, *, since: float, tried_again: float, failures: int) -> None:
    """Pause the model since so many seconds; the next try is so many seconds away."""
    now = timezone.now()
    ModelPause.objects.create(
        project=project,
        model=MODEL,
        kind=PausedKind.MODEL,
        since=now - timedelta(seconds=since),
        until=now + timedelta(seconds=tried_again),
        failures=failures,
    )


def both_looks(limit: int) -> list[UUID]:
    """Return the users that both looks find."""
    found = [
        [each.end_user_id for each in look(limit=limit, outage_seconds=OUTAGE_SECONDS)]
        for look in (look_by_queues, look_at_open_leases)
    ]
    assert found[0] == found[1]
    return found[0]


def test_projects_take_turns_and_those_who_are_leased_are_left_out(project: Project, other_project: Project) -> None:
    first, second, third = (user_of(project, name, waited=waited) for name, waited in (("a", 90), ("b", 80), ("c", 70)))
    other = user_of(other_project, "a", waited=10)
    user_of(other_project, "leased", waited=99, leased=60)
    user_of(project, "later", waited=-60)
    abandoned = user_of(project, "abandoned", waited=99, leased=-1)

    assert both_looks(8) == [abandoned, first, other, second, third]
    assert both_looks(2) == [abandoned, first]


@pytest.mark.parametrize(
    ("since", "tried_again", "failures", "expected"),
    [(60, 30, 1, []), (60, -1, 1, ["oldest"]), (60, -1, 2, ["newest"]), (7_200, 30, 1, ["oldest"])],
    ids=["paused", "a try is due", "every second try", "given up"],
)
def test_one_who_waits_for_a_paused_model_tries_it(
    project: Project, since: float, tried_again: float, failures: int, expected: list[str]
) -> None:
    pause(project, since=since, tried_again=tried_again, failures=failures)
    users = {
        name: user_of(project, name, waited=waited, waits_for=MODEL)
        for name, waited in (("oldest", 3_900), ("middle", 60), ("newest", 30))
    }
    assert both_looks(8) == [users[name] for name in expected]


def test_queues_of_archived_projects_are_paused(project: Project) -> None:
    user_of(project, "a", waited=10)
    Project.objects.update(archived_at=timezone.now())
    assert both_looks(8) == []


def test_many_open_leases_are_looked_at_by_queues(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    users = [user_of(project, str(number), waited=90 - number) for number in range(3)]
    monkeypatch.setattr(ready_users, "MOST_OPEN_LEASES", 2)
    assert both_looks(8) == users
