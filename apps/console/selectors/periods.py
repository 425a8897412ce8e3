"""Periods: how far a dashboard looks back, and in which steps."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Step(StrEnum):
    """One point of a plot; also what the database truncates a time to."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"


_SPANS = {Step.HOUR: timedelta(hours=48), Step.DAY: timedelta(days=30), Step.WEEK: timedelta(weeks=12)}
_LENGTHS = {Step.HOUR: timedelta(hours=1), Step.DAY: timedelta(days=1), Step.WEEK: timedelta(weeks=1)}
_NAMES = {Step.HOUR: "the last 48 hours", Step.DAY: "the last 30 days", Step.WEEK: "the last 12 weeks"}


@dataclass(frozen=True, slots=True)
class Period:
    """The time up to now in equal steps; `start` is the beginning of its first one, in UTC."""

    step: Step
    start: datetime
    end: datetime

    @property
    def name(self) -> str:
        """Return what people call it."""
        return _NAMES[self.step]

    @property
    def steps(self) -> list[datetime]:
        """Return the beginning of each step."""
        found, moment = [], self.start
        while moment <= self.end:
            found.append(moment)
            moment += _LENGTHS[self.step]
        return found


def period_of(step: Step, *, now: datetime) -> Period:
    """Return the period that ends now."""
    return Period(step=step, start=_floor(now - _SPANS[step], step), end=now)


def _floor(moment: datetime, step: Step) -> datetime:
    """Return the beginning of a step; weeks begin on Monday, as the database has it."""
    if step is Step.HOUR:
        return moment.replace(minute=0, second=0, microsecond=0)
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return day if step is Step.DAY else day - timedelta(days=day.weekday())
