"""Relative times in several languages: "two weeks ago", "vor zwei Wochen", "ayer"."""

import re
from datetime import datetime, time

import dateparser

from apps.pipeline.core.enums import Precision
from apps.pipeline.lexicon.numerals import NUMBERS
from apps.pipeline.lexicon.tables import alternation, read_table
from apps.pipeline.resolution import periods
from apps.pipeline.resolution.periods import Period
from apps.pipeline.resolution.phrases import Said, Shape
from apps.pipeline.resolution.tense import Tense

_TABLE = read_table("relative_dates")
_IN_WORDS = alternation(NUMBERS.keys() - {"zero"})
_COUNT = rf"(?:\d{{1,3}}|an?|{_IN_WORDS})"
_PRECISIONS = {word: Precision(unit) for unit, words in _TABLE["units"].items() for word in words.split()}


def _shape(language: str, phrase: str) -> Shape:
    def read(found: re.Match[str], said: Said) -> Period | None:
        groups = found.groupdict()
        if groups.get("vague") or (groups.get("ahead") and said.tense is Tense.PAST):
            return None
        # Without the speaker's day the library would use the machine's clock and time zone.
        settings = {"RELATIVE_BASE": datetime.combine(said.on, time())}
        on: datetime | None = dateparser.parse(found.group(), languages=[language], settings=settings)
        precision = _PRECISIONS.get((groups.get("unit") or "").casefold(), Precision.DAY)
        return periods.around(on.date(), precision) if on else None

    return Shape(re.compile(rf"\b(?:{phrase})(?!\w)", re.IGNORECASE), read)


SHAPES: tuple[Shape, ...] = tuple(
    _shape(language, phrase.replace("COUNT", _COUNT))
    for language, phrases in _TABLE["phrases"].items()
    for phrase in phrases
)
