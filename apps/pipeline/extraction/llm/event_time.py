"""Times in answers: when something happened, begins or ends, with the precision in which it was said."""

import re
from datetime import UTC, date, datetime

from apps.pipeline.core.enums import Precision
from apps.pipeline.core.input_validation import checked_moment
from apps.pipeline.resolution.dates import Period, around, date_with_year

_SHAPES: tuple[tuple[re.Pattern[str], str, Precision], ...] = (
    (re.compile(r"\d{4}"), "%Y", Precision.YEAR),
    (re.compile(r"\d{4}-\d{2}"), "%Y-%m", Precision.MONTH),
    (re.compile(r"\d{4}-\d{2}-\d{2}"), "%Y-%m-%d", Precision.DAY),
)
_WEEK = re.compile(r"\d{4}-?W\d{2}", re.IGNORECASE)
_QUARTER = re.compile(r"(?:Q(?P<q>[1-4])[ /-]?(?P<y>\d{4})|(?P<year>\d{4})[ /-]?Q(?P<quarter>[1-4]))", re.IGNORECASE)
_YEAR_ALONE = re.compile(r"\D*\b(?P<year>(?:19|20)\d\d)\D*")  # "late 2026", "summer 2026", "2026?"


def moment_of(text: str) -> tuple[datetime, Precision]:
    """Parse a year, month, day or ISO 8601 time, or an English date with a year, in UTC.

    Raises ValueError for anything else, and for implausible years.
    """
    text = text.strip()
    for shape, form, precision in _SHAPES:
        if shape.fullmatch(text):
            return _checked(datetime.strptime(text, form).replace(tzinfo=UTC)), precision
    if found := _in_words(text):
        return _checked(found.moment), found.precision
    precision = Precision.WEEK if _WEEK.fullmatch(text) else Precision.INSTANT
    return _checked(datetime.fromisoformat(text)), precision


def _in_words(text: str) -> Period | None:
    """Parse "30 October 2026", "Q3 2026" or "late 2026"; a text with a time of day is none of them."""
    if quarter := _QUARTER.fullmatch(text):
        year, number = int(quarter["y"] or quarter["year"]), int(quarter["q"] or quarter["quarter"])
        return around(date(year, 3 * number, 1), Precision.QUARTER)
    if ":" in text or text[:4].isdigit():
        return None
    if dated := date_with_year(text):
        return dated
    alone = _YEAR_ALONE.fullmatch(text)
    return around(date(int(alone["year"]), 1, 1), Precision.YEAR) if alone else None


def _checked(moment: datetime) -> datetime:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        checked = checked_moment(aware, at="event_at")
    except OverflowError as error:  # an offset beyond the range of dates
        raise ValueError(str(error)) from error
    return checked or aware
