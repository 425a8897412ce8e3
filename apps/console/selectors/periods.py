"""Periods of the dashboard and their steps."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class PeriodStep(StrEnum):
    """The length of one step; also the precision to which the database truncates times."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"


_SPANS = {
    PeriodStep.HOUR: timedelta(hours=48),
    PeriodStep.DAY: timedelta(days=30),
    PeriodStep.WEEK: timedelta(weeks=12),
}
_LENGTHS = {PeriodStep.HOUR: timedelta(hours=1), PeriodStep.DAY: timedelta(days=1), PeriodStep.WEEK: timedelta(weeks=1)}
_NAMES = {
    PeriodStep.HOUR: "the last 48 hours",
    PeriodStep.DAY: "the last 30 days",
    PeriodStep.WEEK: "the last 12 weeks",
}


@dataclass(frozen=True, slots=True)
class DashboardPeriod:
    """A period up to now in equal steps; `start` is the start of the first step, in UTC."""

    step: PeriodStep
    start: datetime
    end: datetime

    @property
    def name(self) -> str:
        """Return the name of the period."""
        return _NAMES[self.step]

    @property
    def steps(self) -> list[datetime]:
        """Return the start of each step."""
        found, moment = [], self.start
        while moment <= self.end:
            found.append(moment)
            moment += _LENGTHS[self.step]
        return found


def dashboard_period(step: PeriodStep, *, now: datetime) -> DashboardPeriod:
    """Return the period that ends at `now`."""
    return DashboardPeriod(step=step, start=_floor(now - _SPANS[step], step), end=now)


def _floor(moment: datetime, step: PeriodStep) -> datetime:
    """Return the start of a step; weeks start on Monday, as in PostgreSQL."""
    if step is PeriodStep.HOUR:
        return moment.replace(minute=0, second=0, microsecond=0)
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return day if step is PeriodStep.DAY else day - timedelta(days=day.weekday())
