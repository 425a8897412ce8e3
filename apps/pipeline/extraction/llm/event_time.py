"""Moments: when something happened, as exactly as it was told and no more."""

import re
from datetime import UTC, datetime

from apps.pipeline.core.enums import Precision
from apps.pipeline.core.input_validation import checked_moment

_SHAPES: tuple[tuple[re.Pattern[str], str, Precision], ...] = (
    (re.compile(r"\d{4}"), "%Y", Precision.YEAR),
    (re.compile(r"\d{4}-\d{2}"), "%Y-%m", Precision.MONTH),
    (re.compile(r"\d{4}-\d{2}-\d{2}"), "%Y-%m-%d", Precision.DAY),
)


def moment_of(text: str) -> tuple[datetime, Precision]:
    """Read a year, month, day or ISO 8601 time, in UTC. Raises ValueError, for absurd years as well."""
    for shape, form, precision in _SHAPES:
        if shape.fullmatch(text.strip()):
            found = datetime.strptime(text.strip(), form).replace(tzinfo=UTC)
            return _checked(found), precision
    return _checked(datetime.fromisoformat(text.strip())), Precision.INSTANT


def _checked(moment: datetime) -> datetime:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        checked = checked_moment(aware, at="event_at")
    except OverflowError as error:  # an offset that leaves the calendar
        raise ValueError(str(error)) from error
    return checked or aware
