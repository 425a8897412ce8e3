"""Periods: a day, week, month, quarter or year, named by its first day."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from apps.pipeline.core.enums import Precision
from apps.pipeline.core.input_validation import EARLIEST, LATEST

_MONTHS = {Precision.MONTH: 1, Precision.QUARTER: 3, Precision.YEAR: 12}
_SATURDAY = 5


@dataclass(frozen=True, slots=True)
class Period:
    """A time with its precision; a weekend is a week that begins on its Saturday."""

    begins: date
    precision: Precision

    @property
    def moment(self) -> datetime:
        """Return its first day at midnight UTC, the stored form of dates."""
        return datetime(self.begins.year, self.begins.month, self.begins.day, tzinfo=UTC)


def day(on: date) -> Period:
    """Return one day."""
    return Period(on, Precision.DAY)


def around(on: date, precision: Precision, *, shift: int = 0) -> Period:
    """Return the period that contains a day, or the one `shift` periods later. Raises OverflowError, ValueError."""
    if precision is Precision.DAY:
        return day(on + timedelta(days=shift))
    if precision is Precision.WEEK:
        return Period(on + timedelta(days=7 * shift - on.weekday()), precision)
    length = _MONTHS[precision]
    year, month = divmod((on.year * 12 + on.month - 1) // length * length + length * shift, 12)
    return Period(date(year, month + 1, 1), precision)


def weekday_before(on: date, weekday: int) -> Period:
    """Return the latest such weekday before a day; Monday is 0."""
    return day(on - timedelta(days=(on.weekday() - weekday - 1) % 7 + 1))


def weekday_after(on: date, weekday: int) -> Period:
    """Return the first such weekday after a day."""
    return day(on + timedelta(days=(weekday - on.weekday() - 1) % 7 + 1))


def weekend(on: date, *, shift: int = 0) -> Period:
    """Return the weekend of a day's week, Monday to Sunday, or the one `shift` weeks later."""
    return Period(on + timedelta(days=_SATURDAY - on.weekday() + 7 * shift), Precision.WEEK)


def is_weekend(on: date) -> bool:
    """Return True if a day is a Saturday or Sunday."""
    return on.weekday() >= _SATURDAY


def checked(period: Period) -> Period | None:
    """Return a period if it can be stored, or None."""
    return period if EARLIEST <= period.moment < LATEST else None
