"""Periods of the dashboard, and their steps."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class PeriodStep(StrEnum):
    """The length of one step; of an hour and more, also the precision to which the database truncates times."""

    FIVE_MINUTES = "five minutes"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"


class DashboardRange(StrEnum):
    """How far back the dashboard looks."""

    HOUR = "1h"
    DAY = "24h"
    WEEK = "7d"
    MONTH = "30d"
    QUARTER = "12w"

    @property
    def short_name(self) -> str:
        """Return the name on its tab: "24 h"."""
        return f"{self.value[:-1]} {self.value[-1]}"


_RANGES = {
    DashboardRange.HOUR: (timedelta(hours=1), PeriodStep.FIVE_MINUTES, "the last hour"),
    DashboardRange.DAY: (timedelta(hours=24), PeriodStep.HOUR, "the last 24 hours"),
    DashboardRange.WEEK: (timedelta(days=7), PeriodStep.DAY, "the last 7 days"),
    DashboardRange.MONTH: (timedelta(days=30), PeriodStep.DAY, "the last 30 days"),
    DashboardRange.QUARTER: (timedelta(weeks=12), PeriodStep.WEEK, "the last 12 weeks"),
}
_LENGTHS = {
    PeriodStep.FIVE_MINUTES: timedelta(minutes=5),
    PeriodStep.HOUR: timedelta(hours=1),
    PeriodStep.DAY: timedelta(days=1),
    PeriodStep.WEEK: timedelta(weeks=1),
}


@dataclass(frozen=True, slots=True)
class DashboardPeriod:
    """A period up to now in equal steps; `start` is the start of the first step, in UTC."""

    range: DashboardRange
    step: PeriodStep
    start: datetime
    end: datetime

    @property
    def name(self) -> str:
        """Return the name of the period."""
        if self.range is DashboardRange.HOUR and not self.is_exact:
            return "this hour and the last"
        return _RANGES[self.range][2]

    @property
    def is_exact(self) -> bool:
        """Return True if the period begins and ends within hours, so that no hourly totals can tell about it."""
        return self.step is PeriodStep.FIVE_MINUTES

    @property
    def step_length(self) -> timedelta:
        """Return the length of one step."""
        return _LENGTHS[self.step]

    @property
    def steps(self) -> list[datetime]:
        """Return the start of each step."""
        found, moment = [], self.start
        while moment < self.end:
            found.append(moment)
            moment += self.step_length
        return found


def dashboard_period(range_: DashboardRange, *, now: datetime, is_busy: bool = False) -> DashboardPeriod:
    """Return the period that ends at `now`; the last hour of a busy project begins with the hour before this one."""
    span, step, _ = _RANGES[range_]
    if step is PeriodStep.FIVE_MINUTES and is_busy:
        step = PeriodStep.HOUR
    start = now - span
    if step is not PeriodStep.FIVE_MINUTES:  # these are counted from the moment
        start = start.replace(minute=0, second=0, microsecond=0)
    if step in (PeriodStep.DAY, PeriodStep.WEEK):
        start = start.replace(hour=0)
    if step is PeriodStep.WEEK:  # from Monday on, as in PostgreSQL
        start -= timedelta(days=start.weekday())
    return DashboardPeriod(range=range_, step=step, start=start, end=now)
