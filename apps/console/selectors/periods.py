"""Periods of the dashboard and their steps."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class PeriodStep(StrEnum):
    """The length of one step; also the precision to which the database truncates times."""

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


# Tallies are hourly, so the last hour begins with the hour before the running one.
_RANGES = {
    DashboardRange.HOUR: (timedelta(hours=1), PeriodStep.HOUR, "this hour and the last"),
    DashboardRange.DAY: (timedelta(hours=24), PeriodStep.HOUR, "the last 24 hours"),
    DashboardRange.WEEK: (timedelta(days=7), PeriodStep.DAY, "the last 7 days"),
    DashboardRange.MONTH: (timedelta(days=30), PeriodStep.DAY, "the last 30 days"),
    DashboardRange.QUARTER: (timedelta(weeks=12), PeriodStep.WEEK, "the last 12 weeks"),
}
_LENGTHS = {PeriodStep.HOUR: timedelta(hours=1), PeriodStep.DAY: timedelta(days=1), PeriodStep.WEEK: timedelta(weeks=1)}


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
        return _RANGES[self.range][2]

    @property
    def steps(self) -> list[datetime]:
        """Return the start of each step."""
        found, moment = [], self.start
        while moment <= self.end:
            found.append(moment)
            moment += _LENGTHS[self.step]
        return found


def dashboard_period(range_: DashboardRange, *, now: datetime) -> DashboardPeriod:
    """Return the period that ends at `now`."""
    span, step, _ = _RANGES[range_]
    return DashboardPeriod(range=range_, step=step, start=_floor(now - span, step), end=now)


def _floor(moment: datetime, step: PeriodStep) -> datetime:
    """Return the start of a step; weeks start on Monday, as in PostgreSQL."""
    if step is PeriodStep.HOUR:
        return moment.replace(minute=0, second=0, microsecond=0)
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return day if step is PeriodStep.DAY else day - timedelta(days=day.weekday())
