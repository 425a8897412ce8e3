"""When a delivery is tried again, when a receiver is left alone for a while, and when its webhook is paused."""

from datetime import datetime, timedelta

FIRST_WAIT, MOST_WAIT = timedelta(seconds=5), timedelta(hours=4)
GIVEN_UP_AFTER = timedelta(days=3)  # counted from when the delivery was due first
FAILURES_BEFORE_REST = 3  # one event that a receiver can't take must not hold up the others
FIRST_REST, MOST_REST = timedelta(seconds=5), timedelta(minutes=5)
PAUSED_AFTER = timedelta(days=1)  # without any delivery
ALERT_AFTER = timedelta(minutes=15)


def wait_after(attempts: int, *, asked: float | None = None) -> timedelta:
    """Return how long to wait after so many attempts: 5 s, 15 s, 45 s … at most 4 hours.

    `asked` are the seconds that the receiver has asked for; they prolong the wait.
    """
    times: int = 3 ** min(attempts - 1, 10)
    wait = max(FIRST_WAIT * times, timedelta(seconds=min(asked or 0.0, MOST_WAIT.total_seconds())))
    return min(wait, MOST_WAIT)


def rest_after(failures: int) -> timedelta:
    """Return how long a receiver is left alone after so many failures in a row: not at first, then up to 5 minutes."""
    if failures < FAILURES_BEFORE_REST:
        return timedelta()
    times: int = 2 ** min(failures - FAILURES_BEFORE_REST, 10)
    return min(FIRST_REST * times, MOST_REST)


def is_to_be_paused(*, failing_since: datetime | None, now: datetime) -> bool:
    """Return True once a receiver has taken nothing for PAUSED_AFTER."""
    return failing_since is not None and now - failing_since >= PAUSED_AFTER
