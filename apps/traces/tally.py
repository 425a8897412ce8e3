"""Compute the hourly totals of the dashboard."""

from datetime import timedelta
from time import monotonic

from django.utils import timezone

from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.tallies import SETTLED_AFTER, hours_to_tally, tally_hour

AN_HOUR = timedelta(hours=1)
MOST_HOURS = 100  # per run, so that catching up after a long pause takes seconds of a worker


def tally(*, most: timedelta = AN_HOUR, settled_after: timedelta = SETTLED_AFTER) -> int:
    """Bring the totals of the current hour and of earlier ones that are not closed up to date; return how many hours.

    Where nobody else writes, `settled_after` may be zero. Each hour is committed by itself; what is left when the time
    is up is left for the next run.
    """
    until, done, now = monotonic() + most.total_seconds(), 0, timezone.now()
    with system_scope(SystemWork.SCHEDULE):
        for hour in hours_to_tally(now=now, most=MOST_HOURS):
            tally_hour(hour, now=now, settled_after=settled_after)
            done += 1
            if monotonic() >= until:
                break
    return done
