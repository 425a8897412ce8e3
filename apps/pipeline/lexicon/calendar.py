"""The names of months, weekdays and units of time, and words for days, in English, German, French and Spanish."""

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
