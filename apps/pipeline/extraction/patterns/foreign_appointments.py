"""Appointments told in German, French and Spanish, as English sentences with the date written out."""

from collections.abc import Iterator
from dataclasses import dataclass

import re2

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.extraction.patterns.pattern import Pattern, PatternMatch
from apps.pipeline.lexicon.calendar import MONTHS
from apps.pipeline.lexicon.tables import alternation, read_table

_DAY = r"(?P<day>\d{1,2})"
_TIME = r"(?P<time>\d{1,2}(?:[:.h]\d{2})?)(?: ?(?:uhr|h|heures?))?"
_WORD = re2.compile(r"[^a-z0-9]+")
_NO_APPOINTMENT = re2.compile(
    r"(?i)^(?:geburtstag|urlaub|frei|ferien|nichts|keine?|zeit|lust|gesagt|gelesen|gesehen)\b"
)


@dataclass(frozen=True, slots=True)
class Appointment:
    """What the speaker has on a day, and the sentence that says so."""

    row: Pattern
    value: str
    content: str


@dataclass(frozen=True, slots=True)
class _Language:
    months: dict[str, str]  # by the word of the language
    has: tuple["re2._Regexp[str]", ...]
    is_on: tuple["re2._Regexp[str]", ...]


def _languages() -> Iterator[_Language]:
    for table in read_table("appointments").values():
        months = dict(zip(table["months"].split(), (month.capitalize() for month in MONTHS), strict=True))
        month = f"(?P<month>{alternation(months)})"
        date = table["day"].replace("DAY", _DAY).replace("MONTH", month).replace("TIME", _TIME)
        yield _Language(months, *(_compiled(table[kind], date) for kind in ("has", "is_on")))


def _compiled(expressions: list[str], date: str) -> tuple["re2._Regexp[str]", ...]:
    return tuple(re2.compile(rf"(?i)(?:^|[\s,;:.(]){each.replace('DATE', date)}") for each in expressions)


_LANGUAGES = tuple(_languages())


def appointment_in(sentence: str, *, name: str) -> Appointment | None:
    """Read "am 21. Juli um 8 Uhr hab ich EKG" as an appointment; None if nothing is told of a day."""
    if not any(char.isdigit() for char in sentence):
        return None
    return next((found for language in _LANGUAGES for found in _told_in(sentence, language, name)), None)


def _told_in(sentence: str, language: _Language, name: str) -> Iterator[Appointment]:
    for expression in language.has:
        if (found := expression.search(sentence)) and not _NO_APPOINTMENT.match(found.group("what")):
            what = found.group("what").strip(" ,")
            yield Appointment(
                _row("has_appointment", MemoryType.EVENT),
                what,
                f"{name} has an appointment on {_date(found, language)}: {what}.",
            )
    for expression in language.is_on:
        if found := expression.search(sentence):
            what = found.group("what").strip()
            predicate = f"{_WORD.sub('_', what.lower()).strip('_')}_date"
            date = _date(found, language)
            yield Appointment(_row(predicate, MemoryType.FACT), date, f"{name}'s {what} is on {date}.")


def _date(found: PatternMatch, language: _Language) -> str:
    day = f"{found.group('day')} {language.months[(found.group('month') or '').lower()]}"
    time = found.group("time")
    return f"{day} at {time.replace('h', ':')}" if time else day


def _row(predicate: str, type: MemoryType) -> Pattern:
    return Pattern(name="foreign_appointment", type=type, predicate=predicate, expression=".*", importance=0.7)
