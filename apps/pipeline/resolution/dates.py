"""Times in sentences, counted from the day on which they were said: "last Saturday", "in two weeks", "am 12. Mai"."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from apps.pipeline.core.enums import Precision
from apps.pipeline.core.input_validation import EARLIEST, LATEST
from apps.pipeline.core.statement import Candidate
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.lexicon import calendar, word_stems
from apps.pipeline.lexicon.tables import alternation

_LENGTHS = {Precision.MONTH: 1, Precision.QUARTER: 3, Precision.YEAR: 12}  # in months


@dataclass(frozen=True, slots=True)
class Period:
    """A day, week, month, quarter or year, named by its first day."""

    begins: date
    precision: Precision

    @property
    def moment(self) -> datetime:
        """Return its first day at midnight UTC, the stored form of dates."""
        return datetime(self.begins.year, self.begins.month, self.begins.day, tzinfo=UTC)


def around(on: date, precision: Precision, *, shift: int = 0) -> Period:
    """Return the period that contains a day, or the one `shift` periods later. Raises OverflowError, ValueError."""
    if precision is Precision.DAY:
        return Period(on + timedelta(days=shift), precision)
    if precision is Precision.WEEK:
        return Period(on + timedelta(days=7 * shift - on.weekday()), precision)
    length = _LENGTHS[precision]
    year, month = divmod((on.year * 12 + on.month - 1) // length * length + length * shift, 12)
    return Period(date(year, month + 1, 1), precision)


def dated(candidate: Candidate, *, turn: SourceTurn) -> Candidate:
    """Return an event with the time that its sentence gives, or its quote if that has one clause.

    Days are in the speaker's time zone. Nothing is guessed: without `occurred_at` only times with a year count, and
    none counts if the extractor has given one, if there are two, or if the words have two readings.
    """
    if not candidate.traits.dated or candidate.event_at is not None:
        return candidate
    predicate = candidate.content.removeprefix(candidate.subject.text).strip()
    is_past = word_stems.may_be_past(predicate.partition(" ")[0].strip(".,!"))
    is_ahead = _AHEAD.search(predicate) is not None
    said = Said(turn.local_time.date(), None if is_ahead is is_past else is_past) if turn.occurred_at else None
    times = _times_in(candidate.content, said)
    if not times and not _JOINT.search(candidate.evidence):
        times = _times_in(candidate.evidence, said)
    found = times.pop() if len(times) == 1 else None
    return candidate.evolve(event_at=found.moment, event_precision=found.precision) if found else candidate


def date_with_year(text: str) -> Period | None:
    """Return the longest time with a year in a text: "30 October 2026", "May 2026", "in 2026"."""
    found = [(match, read) for pattern, read in _WITH_YEAR for match in pattern.finditer(text)]
    longest, read = max(found, key=lambda each: len(each[0].group()), default=(None, _date))
    return read(longest, _NO_DAY) if longest else None


_AHEAD = re.compile(
    r"\b(?:will|won't|shall|going to|gonna|about to|(?:plan|hop|want|intend)(?:s|es|ing|ning)? to"
    r"|(?:is|are) (?:not )?(?:\w+ly )?\w+ing)\b|'ll\b",
    re.IGNORECASE,
)
_JOINT = re.compile(r";|\b(?:and|but|so|then|because|while|when|before|after|und|aber|et|mais|y|pero)\b", re.IGNORECASE)
# Words before a time that is not the event's own, or not exact: "until Friday", "two or three weeks ago".
_NOT_ITS_TIME = re.compile(
    r"(?:\b(?:since|until|till|by|before|after|than|through|between|every|each|for|from|or|to|about|around|almost|nearly"
    r"|roughly|over|under|maybe|probably|perhaps|at least|at most|some|seit|bis|fast|depuis|presque|desde|hasta|casi)"
    r"|[-–/])\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Said:
    """The speaker's day, and whether the sentence is about the past; None if its first verb doesn't show it."""

    on: date
    is_past: bool | None


_NO_DAY = Said(date.min, None)


def _times_in(text: str, said: Said | None) -> set[Period | None]:
    """Return the times in a text; None for one without a certain reading."""
    phrases = (*_WITH_YEAR, *_RELATIVE) if said else _WITH_YEAR
    found = [(match, read) for pattern, read in phrases for match in pattern.finditer(text)]
    kept: list[tuple[int, int]] = []
    times = set()
    for match, read in sorted(found, key=lambda each: -len(each[0].group())):
        if not any(start < match.end() and match.start() < end for start, end in kept):  # "last May" is in "last May 3"
            kept.append(match.span())
            try:
                period = None if _NOT_ITS_TIME.search(text[: match.start()]) else read(match, said or _NO_DAY)
            except (ValueError, OverflowError):  # 31 June
                period = None
            times.add(period if period and EARLIEST <= period.moment < LATEST else None)
    return times


def _date(found: re.Match[str], said: Said) -> Period | None:
    """Read "3 May 2019", "May 2019" or "2019"; without a year the latest or the next one, by the tense."""
    parts = found.groupdict()
    month = calendar.MONTH_NUMBERS[parts["month"].casefold()] if parts.get("month") else 1
    day = int(parts.get("day") or 1)
    precision = Precision.DAY if parts.get("day") else Precision.MONTH if parts.get("month") else Precision.YEAR
    if parts.get("year"):
        return Period(date(int(parts["year"]), month, day), precision)
    if said.is_past is None:
        return None
    today = (said.on.month, said.on.day if parts.get("day") else 1)
    year = said.on.year - ((month, day) > today) if said.is_past else said.on.year + ((month, day) < today)
    return Period(date(year, month, day), precision)


def _shifted(found: re.Match[str], said: Said) -> Period | None:
    """Read "yesterday", "last week", "three weeks ago" or "in two days"; "sailed in two days" says how long it took."""
    parts = {name: text.casefold() for name, text in found.groupdict().items() if text}
    if "near" in parts:
        return around(said.on, Precision.DAY, shift=calendar.DAYS[parts["near"]])
    precision, length = calendar.UNITS[parts["unit"]]
    if "step" in parts:
        return around(said.on, precision, shift=calendar.STEPS[parts["step"]])
    if "back" not in parts and said.is_past:
        return None
    count = int(parts["count"]) if parts["count"].isdigit() else calendar.COUNTS[parts["count"]]
    return around(said.on, precision, shift=count * length * (-1 if "back" in parts else 1))


def _weekday(found: re.Match[str], said: Said) -> Period | None:
    """Read "last Friday", "next Friday", or "on Friday" by the tense; the weekday of today has two readings."""
    step = calendar.STEPS.get((found.groupdict().get("step") or "").casefold())
    is_past = said.is_past if step is None else step < 0 or (step == 0 and said.is_past is True)
    days = (calendar.WEEKDAY_NUMBERS[found["weekday"].casefold()] - said.on.weekday()) % 7
    if is_past is None or (days == 0 and not step):
        return None
    return around(said.on, Precision.DAY, shift=days - 7 if is_past else days or 7)


Reader = Callable[[re.Match[str], Said], Period | None]
_MONTH = rf"(?P<month>{alternation(calendar.MONTH_NUMBERS)})\b"
_WEEKDAY = rf"(?P<weekday>{alternation(calendar.WEEKDAY_NUMBERS)})\b(?! (?:morning|afternoon|evening|night)s)"
_UNIT = rf"(?P<unit>{alternation(calendar.UNITS)})\b"
_STEP = rf"(?<!the )(?P<step>{alternation(calendar.STEPS)})"
_STEP_AFTER = r"(?P<step>derni(?:er|ère)|prochaine?|pasad[oa]|próxim[oa])"
_COUNT = rf"(?P<count>\d{{1,3}}|{alternation(calendar.COUNTS)})"
_DAY = r"(?:the )?(?P<day>\d{1,2})(?:st|nd|rd|th|\.|er)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)\b"
_NOTHING_COUNTED = r"(?!\s[a-z]{3,}s\b)"  # "in 2000 steps" is no time


def _compiled(*phrases: tuple[str, Reader]) -> tuple[tuple[re.Pattern[str], Reader], ...]:
    return tuple((re.compile(rf"\b(?:{phrase})(?!\w)", re.IGNORECASE), read) for phrase, read in phrases)


_WITH_YEAR = _compiled(
    (rf"{_DAY} (?:of |de )?{_MONTH},? (?:de )?{_YEAR}", _date),
    (rf"{_MONTH} {_DAY},? {_YEAR}", _date),
    (rf"{_MONTH}(?: of| de)?,? {_YEAR}", _date),
    (rf"(?:in|im|en) (?:early |mid |late )?{_YEAR}{_NOTHING_COUNTED}", _date),
    (r"\d{4}-\d\d-\d\d", lambda found, _: Period(date.fromisoformat(found.group()), Precision.DAY)),
)
_RELATIVE = _compiled(
    (rf"(?P<near>{alternation(calendar.DAYS)})", _shifted),
    # Germans say "hier" for "here".
    (r"(?<=é )hier|hier(?=,? j)", lambda _, said: around(said.on, Precision.DAY, shift=-1)),
    (rf"{_STEP} {_UNIT}(?! of\b)", _shifted),
    (rf"{_UNIT} {_STEP_AFTER}", _shifted),
    (rf"{_COUNT} {_UNIT} (?:(?P<back>ago)|from now)", _shifted),
    (rf"(?P<back>vor|il y a|hace) {_COUNT} {_UNIT}", _shifted),
    (rf"(?:in|dans|dentro de) {_COUNT} {_UNIT}(?! of| or|-)", _shifted),
    (rf"{_STEP} {_WEEKDAY}", _weekday),
    (rf"{_WEEKDAY} {_STEP_AFTER}", _weekday),
    (rf"(?:on|am) {_WEEKDAY}", _weekday),
    (rf"(?:in|im|en) (?:early |mid |late )?{_MONTH}", _date),
    (rf"{_DAY} (?:of |de )?{_MONTH}", _date),
    (rf"{_MONTH} {_DAY}{_NOTHING_COUNTED}", _date),
)
