"""Times in answers: when something happened, begins or ends, with the precision in which it was said."""

import re
from datetime import UTC, datetime

from apps.pipeline.core.enums import Precision
from apps.pipeline.core.input_validation import checked_moment
from apps.pipeline.resolution.dates import date_with_year

_SHAPES: tuple[tuple[re.Pattern[str], str, Precision], ...] = (
    (re.compile(r"\d{4}"), "%Y", Precision.YEAR),
    (re.compile(r"\d{4}-\d{2}"), "%Y-%m", Precision.MONTH),
    (re.compile(r"\d{4}-\d{2}-\d{2}"), "%Y-%m-%d", Precision.DAY),
)
_WEEK = re.compile(r"\d{4}-?W\d{2}", re.IGNORECASE)
_YEAR = re.compile(r"\D*\b((?:19|20)\d\d)\D*")  # "late 2026", "summer 2026"


def moment_of(text: str) -> tuple[datetime, Precision]:
    """Parse a year, month, day or ISO 8601 time, or an English date with a year, in UTC.

    Raises ValueError for anything else, and for implausible years.
    """
    text = text.strip()
    in_words = None if ":" in text or text[:4].isdigit() else date_with_year(text)
    if in_words is not None:
        return _checked(in_words.moment), in_words.precision
    if year := _YEAR.fullmatch(text):
        text = year[1]
    for shape, form, precision in _SHAPES:
        if shape.fullmatch(text):
            return _checked(datetime.strptime(text, form).replace(tzinfo=UTC)), precision
    precision = Precision.WEEK if _WEEK.fullmatch(text) else Precision.INSTANT
    return _checked(datetime.fromisoformat(text)), precision


def _checked(moment: datetime) -> datetime:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        checked = checked_moment(aware, at="event_at")
    except OverflowError as error:  # an offset beyond the range of dates
        raise ValueError(str(error)) from error
    return checked or aware
