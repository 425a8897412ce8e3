"""Add up the last hours of traces for the dashboard, so that no page has to."""

from django.utils import timezone

from apps.traces.tallies import hours_to_tally, tally_hour

MOST_HOURS = 100  # a run, so that catching up after a long pause holds a worker for seconds


def tally() -> int:
    """Remake the tallies of the running hour and of those not closed before it; return how many hours that were."""
    hours = hours_to_tally(now=timezone.now(), most=MOST_HOURS)
    for hour in hours:
        tally_hour(hour)
    return len(hours)
