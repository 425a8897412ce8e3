"""Times in answers: when something happened, begins or ends, with the precision in which it was said."""

import re
from datetime import UTC, date, datetime

from apps.pipeline.core.enums import Precision
from apps.pipeline.core.input_validation import checked_moment
from apps.pipeline.resolution.calendar_words import DATES
from apps.pipeline.resolution.phrases import Said

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
    year = _YEAR.fullmatch(text)
    if year and not any(phrase.pattern.search(text) for phrase in DATES):
        text = year[1]
    for shape, form, precision in _SHAPES:
        if shape.fullmatch(text):
            return _checked(datetime.strptime(text, form).replace(tzinfo=UTC)), precision
    if ":" not in text and not text[:4].isdigit():
        dates = [(found, phrase) for phrase in DATES if (found := phrase.pattern.search(text))]
        if dates:
            longest, phrase = max(dates, key=lambda each: len(each[0].group()))
            if period := phrase.read(longest, Said(date.min)):
                return _checked(period.moment), period.precision
    precision = Precision.WEEK if _WEEK.fullmatch(text) else Precision.INSTANT
    return _checked(datetime.fromisoformat(text)), precision


def _checked(moment: datetime) -> datetime:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        checked = checked_moment(aware, at="event_at")
    except OverflowError as error:  # an offset beyond the range of dates
        raise ValueError(str(error)) from error
    return checked or aware
