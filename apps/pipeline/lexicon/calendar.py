"""The names of months, weekdays and units of time, and words for days, in English, German, French and Spanish.

In English, dates and hours have one format: "2023-09-24" is "24 September 2023", "7:30 pm" is "19:30".
"""

import re
from typing import TypeVar

from apps.pipeline.core.enums import Precision
from apps.pipeline.lexicon.numerals import NUMBERS

MONTHS = tuple("january february march april may june july august september october november december".split())
WEEKDAYS = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
_OTHER_MONTHS = (
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
)
_OTHER_WEEKDAYS = (
    "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "lunes martes miércoles jueves viernes sábado domingo",
)
# Abbreviations; "mar" and those of weekdays could be other words.
_ABBREVIATIONS = "jan feb apr jun jul aug sept sep oct nov dec".split()


def _numbered(*lists: str, first: int) -> dict[str, int]:
    return {name: number for names in lists for number, name in enumerate(names.split(), start=first)}


MONTH_NUMBERS = _numbered(" ".join(MONTHS), *_OTHER_MONTHS, first=1)
WEEKDAY_NUMBERS = _numbered(" ".join(WEEKDAYS), *_OTHER_WEEKDAYS, first=0)


_Meaning = TypeVar("_Meaning")


def _by_meaning(phrases: dict[_Meaning, str]) -> dict[str, _Meaning]:
    return {phrase: meaning for meaning, listed in phrases.items() for phrase in listed.split("|")}


DAYS = _by_meaning(
    {
        -2: "the day before yesterday|vorgestern|avant-hier|anteayer",
        -1: "yesterday|last night|gestern|hier soir|ayer",
        0: "today|tonight|this morning|this afternoon|this evening|heute|aujourd'hui|hoy",
        1: "tomorrow|demain",
        2: "the day after tomorrow|übermorgen|après-demain|pasado mañana",
    }
)
STEPS = _by_meaning(
    {
        -1: "last|past|this past|letzte|letzten|letzter|letztes|dernier|dernière|pasado|pasada",
        0: "this|diese|diesen|dieser|dieses|cette|este|esta",
        1: "next|coming|this coming|nächste|nächsten|nächster|nächstes|prochain|prochaine|próximo|próxima",
    }
)
# Each unit with the number of its precision's periods.
UNITS = _by_meaning(
    {
        (Precision.DAY, 1): "day|days|tag|tage|tagen|jour|jours|día|días",
        (Precision.WEEK, 1): "week|weeks|woche|wochen|semaine|semaines|semana|semanas",
        (Precision.WEEK, 2): "fortnight|fortnights",
        (Precision.MONTH, 1): "month|months|monat|monate|monaten|mois|mes|meses",
        (Precision.QUARTER, 1): "quarter|quarters",
        (Precision.YEAR, 1): "year|years|jahr|jahre|jahren|année|an|ans|año|años",
    }
)
COUNTS = {
    **{word: number for word, number in NUMBERS.items() if number},
    **dict.fromkeys("a an ein eine einem einer un une una".split(), 1),
    **_numbered("zwei drei vier fünf sechs", "deux trois quatre cinq six", "dos tres cuatro cinco seis", first=2),
}

# Every one-word English spelling of a month, season or weekday, with its name; "may" is mostly a modal verb.
NAMES: dict[str, str] = {
    **{month: month for month in MONTHS if month != "may"},
    **{short: next(month for month in MONTHS if month.startswith(short)) for short in _ABBREVIATIONS},
    **{form: day for day in WEEKDAYS for form in (day, f"{day}s")},
    **{form: season for season in ("summer", "winter") for form in (season, f"{season}s")},
    "spring": "spring",
    **dict.fromkeys(("autumn", "fall"), "autumn"),
}

_ISO_DAY = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_DOTTED_DAY = re.compile(r"\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b")
_ORDINAL = re.compile(r"\b([1-9]\d*)(?:st|nd|rd|th)\b")
_HALF = re.compile(r"\b[ap]\.m\.?", re.IGNORECASE)
_CLOCK = re.compile(r"\b(\d{1,2})(?:[:.](\d{2}))? ?([ap]m)\b", re.IGNORECASE)
_PAST = re.compile(r"\b(half|quarter|\d+) (past|to) (\d{1,2})\b", re.IGNORECASE)
_O_CLOCK = re.compile(r" o['’]clock\b")
_PARTS = {"half": 30, "quarter": 15}


def normalize_times(text: str) -> str:
    """Return a sentence with its dates and hours in one format."""
    if not any(letter.isdigit() for letter in text):
        return text
    text = _ISO_DAY.sub(lambda day: _day(int(day[3]), int(day[2]), day[1]), text)
    text = _DOTTED_DAY.sub(lambda day: _day(int(day[1]), int(day[2]), day[3]), text)
    text = _ORDINAL.sub(lambda found: found[1] if int(found[1]) > 1 else found[0], text)
    text = _PAST.sub(_spoken, _O_CLOCK.sub("", text))
    return _CLOCK.sub(_in_24_hours, _HALF.sub(lambda half: half[0].replace(".", ""), text))


def _day(day: int, month: int, year: str) -> str:
    return f"{day} {MONTHS[month - 1].capitalize()} {year}" if 1 <= month <= 12 else f"{day} {month} {year}"


def _in_24_hours(found: re.Match[str]) -> str:
    hour = int(found[1]) % 12 + (12 if found[3].lower() == "pm" else 0)
    return f"{hour}:{found[2] or '00'}"


def _spoken(found: re.Match[str]) -> str:
    minutes = _PARTS.get(found[1].lower()) or int(found[1] if found[1].isdigit() else 0)
    hour = int(found[3])
    return f"{hour}:{minutes:02}" if found[2].lower() == "past" else f"{(hour - 2) % 12 + 1}:{60 - minutes:02}"
