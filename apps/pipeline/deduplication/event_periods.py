"""Periods of events: whether two events, each known to the day, month or year, may have happened at the same time."""

from datetime import date, datetime, timedelta

from apps.pipeline.core.enums import Precision
from apps.pipeline.core.statement import Statement
from apps.pipeline.resolution.dates import around

_WHOLE = frozenset({Precision.MONTH, Precision.QUARTER, Precision.YEAR})


def may_be_one_time(one: Statement, two: Statement) -> bool:
    """Return True if the periods of two dated events overlap; a time of day counts as its whole day."""
    if one.event_at is None or two.event_at is None:
        return False
    first, first_ends = _days(one.event_at, one.event_precision)
    second, second_ends = _days(two.event_at, two.event_precision)
    return first < second_ends and second < first_ends


def _days(at: datetime, precision: Precision | None) -> tuple[date, date]:
    """Return the first day of a period and the day after its last."""
    begins = at.date()
    if precision in _WHOLE:
        return around(begins, precision).begins, around(begins, precision, shift=1).begins
    return begins, begins + timedelta(days=7 if precision is Precision.WEEK else 1)
