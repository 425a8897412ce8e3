"""When a delivery is tried again, and how long a failing receiver rests."""

from datetime import timedelta

import pytest

from apps.webhooks.delivery import rest_after, wait_after


def test_the_waits_triple_up_to_four_hours() -> None:
    seconds = [wait_after(attempts).total_seconds() for attempts in range(1, 11)]

    assert seconds == [5, 15, 45, 135, 405, 1_215, 3_645, 10_935, 14_400, 14_400]
    assert wait_after(1_000) == timedelta(hours=4)


@pytest.mark.parametrize(("asked", "waits"), [(None, 5), (2, 5), (90, 90), (1e12, 14_400)])
def test_a_receiver_may_ask_for_a_longer_wait(asked: float | None, waits: int) -> None:
    assert wait_after(1, asked=asked) == timedelta(seconds=waits)


def test_one_event_that_is_not_taken_holds_up_no_other_but_a_silent_receiver_rests() -> None:
    assert [rest_after(failures).total_seconds() for failures in range(6)] == [0, 0, 0, 5, 10, 20]
    assert rest_after(1_000) == timedelta(minutes=5)
