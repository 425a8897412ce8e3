"""Times in statements about events, counted from when they were said: "last Saturday", "two years ago", "in May"."""

import re
from collections.abc import Sequence
from datetime import date

from apps.pipeline.core.statement import Candidate
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.lexicon.calendar import MONTHS, SEASONS
from apps.pipeline.resolution import calendar_words, relative_dates
from apps.pipeline.resolution.periods import Period, checked
from apps.pipeline.resolution.phrases import Said, Shape
from apps.pipeline.resolution.tense import tense_of

Told = tuple[re.Match[str], Period | None]

# Words before a time that is not the event's own, or not exact: "until Friday", "two or three weeks ago".
_NOT_ITS_TIME = re.compile(
    r"(?:\b(?:since|until|till|by|before|after|than|through|between|every|each|for|from|or|to|about|around|almost|nearly"
    r"|roughly|over|under|maybe|probably|perhaps|at least|at most|some|seit|bis|fast|depuis|presque|desde|hasta|casi)"
    r"|[-–/])\s*$",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|recently|lately|currently|soon|ago|at the moment|these days|right now"
    r"|(?:last|next|this|this coming|this past) (?:night|morning|afternoon|evening|week|weekend|month|quarter|year"
    rf"|season|\w+day|{'|'.join((*SEASONS, *MONTHS))})"
    r"|gestern|vorgestern|heute|morgen|übermorgen|derzeit|demain|aujourd'hui|récemment|ayer|anteayer|hoy|mañana|ahora)\b",
    re.IGNORECASE,
)
# A time between two clauses belongs to one of them; at the start of a sentence, to all.
_JOINT = re.compile(r";|\b(?:and|but|so|then|because|while|when|before|after|und|aber|et|mais|y|pero)\b", re.IGNORECASE)
_FRONT = 12  # characters: "So, yesterday…"


def dated(candidate: Candidate, *, turn: SourceTurn) -> Candidate:
    """Return an event with the time that its sentence or quote gives, and its precision.

    Days are in the speaker's time zone; like all dates they are stored as midnight UTC. Nothing is guessed: without
    `occurred_at` only times with a year count, and none counts if the extractor has given one, if there are two, or if
    the words have two readings.
    """
    if not candidate.traits.dated or candidate.event_at is not None:
        return candidate
    said = Said(turn.local_time.date(), tense_of(candidate)) if turn.occurred_at else None
    found = _told_in(candidate, said)
    if found is None:
        return candidate
    return candidate.evolve(event_at=found.moment, event_precision=found.precision)


def _told_in(candidate: Candidate, said: Said | None) -> Period | None:
    """Return the time in the sentence, or in the quote if the sentence has none."""
    if told := _times_of(candidate.content, said):
        return _agreed(told)
    quote = candidate.evidence
    told = _times_of(quote, said)
    in_front = all(found.start() <= _FRONT for found, _ in told)
    return _agreed(told) if in_front or not _JOINT.search(quote) else None


def _agreed(told: Sequence[Told]) -> Period | None:
    """Return the one time that all phrases agree on; a time without a reading agrees with none."""
    periods = {period for _, period in told}
    return periods.pop() if len(periods) == 1 else None


def _times_of(text: str, said: Said | None) -> list[Told]:
    shapes = (*calendar_words.DATES, *((*calendar_words.SHAPES, *relative_dates.SHAPES) if said else ()))
    found = [(match, shape) for shape in shapes for match in shape.pattern.finditer(text)]
    spans = [match.span() for match, _ in found]
    whole = [(match, shape) for match, shape in found if not _is_part(match.span(), spans)]
    return [(match, _read(match, shape, said)) for match, shape in whole]


def _is_part(span: tuple[int, int], others: Sequence[tuple[int, int]]) -> bool:
    """Return True if a longer phrase contains this one: "yesterday" in "the day before yesterday"."""
    longer = [other for other in others if other[1] - other[0] > span[1] - span[0]]
    return any(other[0] < span[1] and span[0] < other[1] for other in longer)


def _read(match: re.Match[str], shape: Shape, said: Said | None) -> Period | None:
    if _NOT_ITS_TIME.search(match.string[: match.start()]):
        return None
    try:
        period = shape.read(match, said or Said(date.min))
        return checked(period) if period else None
    except (ValueError, OverflowError):  # 31 June
        return None
