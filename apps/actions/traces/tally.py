"""Compute the hourly totals of the dashboard."""

from django.utils import timezone

from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.tallies import hours_to_tally, tally_hour

MOST_HOURS = 100  # per run, so that catching up after a long pause takes seconds of a worker


def tally() -> int:
    """Recompute the totals of the current hour and of earlier ones that are not closed; return how many hours."""
    with system_scope(SystemWork.SCHEDULE):
        hours = hours_to_tally(now=timezone.now(), most=MOST_HOURS)
        for hour in hours:
            tally_hour(hour)
    return len(hours)
