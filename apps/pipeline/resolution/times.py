"""Times that count from when something was said: "last Saturday", "two years ago", "next month"."""

import re
from datetime import UTC, datetime

import dateparser

from apps.pipeline.draft import Candidate, SourceTurn
from apps.pipeline.vocabulary import MemoryType, Precision

_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_COUNT = r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_UNIT = r"(?P<{0}>day|week|month|year)s?"
# Whole phrases only, and only those whose reading is certain; what else a sentence may hold stays as it was said.
_PHRASES: dict[str, tuple[re.Pattern[str], ...]] = {
    "en": (
        re.compile(r"\b(?P<day>yesterday|today|tomorrow)\b", re.IGNORECASE),
        re.compile(rf"\b(?:last|next) (?P<day>{_DAYS})\b", re.IGNORECASE),
        re.compile(r"\b(?:last|next) (?P<unit>week|month|year)\b", re.IGNORECASE),
        re.compile(rf"\b{_COUNT} {_UNIT.format('unit')} ago\b", re.IGNORECASE),
        re.compile(rf"\bin {_COUNT} {_UNIT.format('unit')}\b(?! time of)", re.IGNORECASE),
    ),
    "de": (
        re.compile(r"\b(?P<day>gestern|heute)\b", re.IGNORECASE),
        re.compile(r"\bvor \w+ (?P<unit>tag|woche|monat|jahr)(?:en|n|e)?\b", re.IGNORECASE),
    ),
    "fr": (re.compile(r"\bil y a \w+ (?P<unit>jour|semaine|mois|an)s?\b", re.IGNORECASE),),
    "es": (re.compile(r"\b(?P<day>ayer)\b", re.IGNORECASE),),
}
_PRECISION = {
    **dict.fromkeys(("day", "tag", "jour"), Precision.DAY),
    **dict.fromkeys(("week", "woche", "semaine", "month", "monat", "mois"), Precision.MONTH),
    **dict.fromkeys(("year", "jahr", "an"), Precision.YEAR),
}


def dated(candidate: Candidate, *, turn: SourceTurn) -> Candidate:
    """Give an event the time that its quote tells relative to the turn, and how exactly.

    Days are those of whoever speaks; like any date without a clock they are kept as midnight in UTC. Nothing is
    guessed: not without `occurred_at`, not where an extractor has told a time, not from two expressions.
    """
    if candidate.type is not MemoryType.EVENT or candidate.event_at is not None or turn.occurred_at is None:
        return candidate
    found = _told(candidate.evidence, said_at=turn.local_time)
    if found is None:
        return candidate
    return candidate.evolve(event_at=found[0], event_precision=found[1])


def _told(quote: str, *, said_at: datetime) -> tuple[datetime, Precision] | None:
    phrases = [
        (language, match)
        for language, patterns in _PHRASES.items()
        for pattern in patterns
        for match in pattern.finditer(quote)
    ]
    if len(phrases) != 1:
        return None
    language, match = phrases[0]
    # Its own idea of today's clock, of the machine's zone and of times of day is kept out of it.
    told = dateparser.parse(
        match.group(), languages=[language], settings={"RELATIVE_BASE": said_at.replace(tzinfo=None)}
    )
    if told is None:
        return None
    precision = Precision.DAY if match.groupdict().get("day") else _PRECISION[match["unit"].casefold()]
    return _begin(told.replace(tzinfo=UTC), precision), precision


def _begin(moment: datetime, precision: Precision) -> datetime:
    """Return the first moment of the day, month or year: no more is told."""
    begun = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if precision is Precision.DAY:
        return begun
    return begun.replace(day=1) if precision is Precision.MONTH else begun.replace(month=1, day=1)
