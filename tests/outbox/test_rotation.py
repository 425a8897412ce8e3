"""Which of the ready end users are leased next."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from apps.outbox.rotation import ReadyQueue, ReadyUser, in_rotation

NOW = datetime(2026, 5, 4, tzinfo=UTC)


def ready(number: int, *, project: int, waited: int, held: int = 0) -> ReadyUser:
    queue = ReadyQueue(UUID(int=project), "", held, is_single_try=False, is_newest_first=False, ready_by=NOW)
    return ReadyUser(UUID(int=number), NOW - timedelta(minutes=waited), queue)


@pytest.mark.parametrize(
    ("users", "order"),
    [
        ([], []),
        ([ready(1, project=1, waited=2), ready(2, project=1, waited=9)], [2, 1]),
        (
            [ready(1, project=1, waited=9), ready(2, project=1, waited=8), ready(3, project=2, waited=1)],
            [1, 3, 2],
        ),
        (
            [ready(1, project=1, waited=9, held=1), ready(2, project=2, waited=1), ready(3, project=2, waited=2)],
            [3, 1, 2],
        ),
    ],
    ids=["nobody", "the longest wait first", "projects take turns", "held leases are turns"],
)
def test_the_order_of_ready_users(users: list[ReadyUser], order: list[int]) -> None:
    assert [each.end_user_id.int for each in in_rotation(users, limit=8)] == order
    assert [each.end_user_id.int for each in in_rotation(users, limit=1)] == order[:1]
