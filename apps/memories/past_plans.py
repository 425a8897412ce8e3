"""Plans whose day has passed, of which nobody has said that they happened."""

from datetime import datetime, timedelta
from typing import Protocol

from apps.pipeline.core.enums import Precision

# The most days that an event may last from its first day on, by the precision of its time.
_LONGEST = {
    Precision.INSTANT: 1,
    Precision.DAY: 1,
    Precision.WEEK: 7,
    Precision.MONTH: 31,
    Precision.QUARTER: 92,
    Precision.YEAR: 366,
}


class DatedMemory(Protocol):
    """A memory of any kind, with when it was told and when it happens."""

    @property
    def said_at(self) -> datetime: ...  # noqa: D102
    @property
    def event_at(self) -> datetime | None: ...  # noqa: D102
    @property
    def event_precision(self) -> str | None: ...  # noqa: D102
    @property
    def recurrence(self) -> int: ...  # noqa: D102


def is_past_plan(memory: DatedMemory, *, now: datetime) -> bool:
    """Return True for what was told before its time and is over by now.

    What was told again on another day may have been confirmed since.
    """
    if memory.event_at is None or memory.said_at >= memory.event_at or memory.recurrence > 1:
        return False
    return memory.event_at + timedelta(days=_LONGEST[Precision(memory.event_precision or Precision.DAY)]) <= now
