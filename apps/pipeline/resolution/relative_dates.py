"""Words for times that are counted from a day, in several languages: "two weeks ago", "vor zwei Wochen", "ayer"."""

import re
from datetime import datetime, time

import dateparser

from apps.pipeline.core.enums import Precision
from apps.pipeline.resolution import periods
from apps.pipeline.resolution.periods import Period
from apps.pipeline.resolution.phrases import Said, Shape
from apps.pipeline.resolution.tense import Tense

_COUNT = r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty)"
_UNIT = r"(?P<unit>day|fortnight|week|month|year)s?"
# Whole phrases only, and only those whose reading is certain: neither "read it in two days" nor "in a year or two".
_PHRASES: dict[str, tuple[str, ...]] = {
    "en": (rf"{_COUNT} {_UNIT} (?:ago|from now)", rf"(?P<ahead>in) {_COUNT} {_UNIT}\b(?P<vague> of| or|-)?"),
    "de": (
        r"(?:vorgestern|gestern|heute|übermorgen)",
        r"(?:diese|letzte|nächste)[nrs]? (?P<unit>woche|monat|jahr)",
        r"vor \w+ (?P<unit>tag|woche|monat|jahr)(?:en|n|e)?",
        r"(?P<ahead>in) \w+ (?P<unit>tag|woche|monat|jahr)(?:en|n)",
    ),
    "fr": (
        r"(?:avant-hier|aujourd'hui|après-demain|demain)",
        # Germans and the Dutch say "hier" for "here".
        r"hier(?=(?: soir| matin|,? j'|,? (?:je|nous|on|il|elle)\b))|(?<=é )hier",
        r"la (?P<unit>semaine) (?:dernière|prochaine)",
        r"le (?P<unit>mois) (?:dernier|prochain)",
        r"l'(?P<unit>année) (?:dernière|prochaine)",
        r"(?:cette|ce) (?P<unit>semaine|mois|année)",
        r"(?:il y a|dans) \w+ (?P<unit>jour|semaine|mois|an)s?",
    ),
    "es": (
        r"(?:anteayer|ayer|hoy)",
        r"la (?P<unit>semana) pasada",
        r"el (?P<unit>mes|año) pasado",
        r"(?:la próxima|el próximo|est[ae]) (?P<unit>semana|mes|año)",
        r"(?:hace|dentro de) (?:un|una|\d+) (?P<unit>día|semana|mes|año)(?:es|s)?",
    ),
}
_PRECISIONS = {
    **dict.fromkeys("week fortnight woche semaine semana".split(), Precision.WEEK),
    **dict.fromkeys("month monat mois mes".split(), Precision.MONTH),
    **dict.fromkeys("year jahr an année año".split(), Precision.YEAR),
}


def _shape(language: str, phrase: str) -> Shape:
    def read(found: re.Match[str], said: Said) -> Period | None:
        told = found.groupdict()
        if told.get("vague") or (told.get("ahead") and said.tense is Tense.PAST):
            return None
        precision = _PRECISIONS.get((told.get("unit") or "").casefold(), Precision.DAY)
        on = _counted(found.group(), language, said)
        return periods.around(on.date(), precision) if on else None

    return Shape(re.compile(rf"\b(?:{phrase})(?!\w)", re.IGNORECASE), read)


def _counted(phrase: str, language: str, said: Said) -> datetime | None:
    """Ask the library; it is given the day, or it would take the machine's clock and zone."""
    base = datetime.combine(said.on, time())
    told: datetime | None = dateparser.parse(phrase, languages=[language], settings={"RELATIVE_BASE": base})
    return told


SHAPES: tuple[Shape, ...] = tuple(
    _shape(language, phrase) for language, phrases in _PHRASES.items() for phrase in phrases
)
