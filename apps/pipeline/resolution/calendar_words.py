"""English phrases for calendar times, and the period that each means when said on a given day."""

import re
from collections.abc import Iterator
from datetime import date

from apps.pipeline.core.enums import Precision
from apps.pipeline.lexicon.calendar import MONTHS, SEASONS, WEEKDAYS
from apps.pipeline.resolution import periods
from apps.pipeline.resolution.periods import Period
from apps.pipeline.resolution.phrases import Read, Said, Shape

_WEEKDAY = rf"(?P<weekday>{'|'.join(WEEKDAYS)})\b(?! (?:morning|afternoon|evening|night)s)"
_MONTH = rf"(?P<month>{'|'.join(MONTHS)})\b"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\b"
_YEAR = r"(?P<year>(?:19|20)\d\d)\b"
_SEASON = rf"(?:{'|'.join(SEASONS)})"
# "On the 3rd floor" and "in 2000 steps" are not times.
_ALONE = r"(?=\s*(?:[.,;:!?)]|$)|\s(?:and|at|but|for|from|in|so|to|with|because|I|we)\b)"
_NOTHING_COUNTED = r"(?!\s[a-z]{3,}s\b)"
_DAYS_AWAY = {
    "the day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "this morning": 0,
    "this afternoon": 0, "this evening": 0, "tomorrow": 1, "the day after tomorrow": 2,
}  # fmt: skip
_STEPS = {"last": -1, "this": 0, "next": 1, "before last": -2, "after next": 2}


def _day_away(found: re.Match[str], said: Said) -> Period:
    return periods.around(said.on, Precision.DAY, shift=_DAYS_AWAY[found.group().casefold()])


def _weekday(found: re.Match[str], said: Said) -> Period | None:
    number = WEEKDAYS.index(found["weekday"].casefold())
    before, after = periods.weekday_before(said.on, number), periods.weekday_after(said.on, number)
    which = found["which"].casefold().split()[-1]
    if which in ("last", "past"):
        return before
    if which in ("next", "coming"):
        return after
    if number == said.on.weekday():
        return periods.day(said.on) if which == "this" else None
    return after if which == "this" and number > said.on.weekday() else said.told(past=before, ahead=after)


def _unit(found: re.Match[str], said: Said) -> Period:
    which = (found["which"] or found["after"]).casefold()
    return periods.around(said.on, Precision(found["unit"].casefold()), shift=_STEPS[which])


def _weekend(found: re.Match[str], said: Said) -> Period | None:
    """Return the period of a weekend; on a weekday, "next weekend" may be the coming one or the one after it."""
    now = periods.is_weekend(said.on)
    before, running = periods.weekend(said.on, shift=-1), periods.weekend(said.on)
    match found["which"].casefold():
        case "last" | "past" | "this past":
            return before
        case "next":
            return periods.weekend(said.on, shift=1) if now else None
    return running if now else said.told(past=before, ahead=running)


def _month(found: re.Match[str], said: Said) -> Period | None:
    number = MONTHS.index(found["month"].casefold()) + 1
    running = periods.around(said.on.replace(month=number, day=1), Precision.MONTH)
    month = said.on.month
    earlier, later = (periods.around(running.begins, Precision.MONTH, shift=by) for by in (-12, 12))
    match found["which"].casefold().split()[0]:
        case "last":
            return running if number < month else earlier
        case "next":
            return running if number > month else later
        case "this":
            return running
    return said.told(past=running if number <= month else earlier, ahead=running if number >= month else later)


def _day_of_month(found: re.Match[str], said: Said) -> Period | None:
    """Return the day of "on the 3rd" or "on 3 May" by the tense: the latest such day, or the next one."""
    told = found.groupdict()
    wanted = int(told["day"]), MONTHS.index(told["month"].casefold()) + 1 if told.get("month") else None
    return said.told(past=_nearest(said.on, wanted, step=-1), ahead=_nearest(said.on, wanted, step=1))


def _nearest(on: date, wanted: tuple[int, int | None], *, step: int) -> Period:
    """Return the nearest day with that number, in that month if one is named. Raises ValueError for 31 June."""
    for day in _days(on, step=step):
        if day.day == wanted[0] and wanted[1] in (None, day.month):
            return periods.day(day)
    raise ValueError(f"no such day: {wanted}")


def _days(on: date, *, step: int) -> Iterator[date]:
    return (date.fromordinal(on.toordinal() + step * number) for number in range(366 * 8 + 2))


def _month_of_year(found: re.Match[str], said: Said) -> Period:
    year = said.on.year + _STEPS[found["which"].casefold()]
    return periods.around(date(year, MONTHS.index(found["month"].casefold()) + 1, 1), Precision.MONTH)


def _year(found: re.Match[str], _: Said) -> Period:
    return periods.around(date(int(found["year"]), 1, 1), Precision.YEAR)


def _month_and_year(found: re.Match[str], _: Said) -> Period:
    number = MONTHS.index(found["month"].casefold()) + 1
    return periods.around(date(int(found["year"]), number, 1), Precision.MONTH)


def _date(found: re.Match[str], _: Said) -> Period:
    return periods.day(date(int(found["year"]), MONTHS.index(found["month"].casefold()) + 1, int(found["day"])))


def _iso_date(found: re.Match[str], _: Said) -> Period:
    return periods.day(date.fromisoformat(found.group()))


def _compiled(*shapes: tuple[str, Read]) -> tuple[Shape, ...]:
    return tuple(Shape(re.compile(rf"\b{phrase}(?!\w)", re.IGNORECASE), read) for phrase, read in shapes)


# Times with a year, which don't depend on the day on which they were said.
DATES = _compiled(
    (rf"{_MONTH}(?: of)?,? {_YEAR}", _month_and_year),
    (rf"(?:the )?{_DAY} (?:of )?{_MONTH},? {_YEAR}", _date),
    (rf"{_MONTH} (?:the )?{_DAY},? {_YEAR}", _date),
    (rf"{_SEASON}(?: of)? {_YEAR}", _year),
    (rf"in (?:the year |early |mid |late )?{_YEAR}{_NOTHING_COUNTED}", _year),
    (r"\d{4}-\d\d-\d\d", _iso_date),
)
SHAPES = _compiled(
    (rf"(?:{'|'.join(_DAYS_AWAY)})", _day_away),
    (rf"(?<!the )(?P<which>last|this past|this coming|coming|this|next|on) {_WEEKDAY}", _weekday),
    (r"(?<!the )(?P<which>last|this|next) (?P<unit>week|month|quarter|year)\b(?! of\b)", _unit),
    (r"the (?P<unit>week|month|quarter|year) (?P<which>before last|after next)", _unit),
    (r"(?<!the )(?P<which>last|this past|this|next) weekend", _weekend),
    (r"(?:over|at|on|during) (?P<which>the) weekend", _weekend),
    (rf"(?<!the )(?P<which>last|this|next|in(?: early| mid| late)?) {_MONTH}", _month),
    (rf"{_MONTH}(?: of)? (?P<which>last|this|next) year", _month_of_year),
    (rf"on the (?P<day>\d{{1,2}})(?:st|nd|rd|th){_ALONE}", _day_of_month),
    (rf"(?:the )?{_DAY} (?:of )?{_MONTH}", _day_of_month),
    (rf"{_MONTH} (?:the )?{_DAY}{_NOTHING_COUNTED}", _day_of_month),
)
