"""Validation of text and times from outside: invalid names are refused, content is cleaned, times are limited.

Only characters that aren't part of any word are removed from content. A name that would have to be changed is refused
instead, because a changed name is another name.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

MAX_DEPTH = 32
METADATA_BYTES = 8 * 1024
METADATA_DEPTH = 8
EARLIEST_SAID = datetime(1900, 1, 1, tzinfo=UTC)
EARLIEST = datetime(1000, 1, 1, tzinfo=UTC)
LATEST = datetime(2500, 1, 1, tzinfo=UTC)
CLOCK_SKEW = timedelta(minutes=5)  # tolerated error of a caller's clock
# A time up to this far ahead comes from a wrong clock or time zone; a later one is a mistake.
AHEAD = timedelta(days=366)

# Embeddings, overrides and isolates reorder the displayed text; marks (U+200E, U+200F) don't.
_BIDI = "\u202a-\u202e\u2066-\u2069"
# Characters that models read and people don't see: zero-width spaces, soft hyphens, invisible operators, fillers, tags.
_INVISIBLE = (
    "\u00ad\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u2060-\u2064\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f"
)
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_LINE_BREAKS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_NO_WORDS = re.compile(f"[\x00-\x08\x0e-\x1f\x7f-\x9f{_BIDI}{_INVISIBLE}]")
# Joiners shape Persian, Indic and emoji sequences, but nothing in ASCII. One variation selector selects a form; several
# in a row can hide data.
_IDLE_JOINERS = re.compile(
    r"(?<=[\x00-\x7f])[\u200c\u200d]+|[\u200c\u200d]+(?=[\x00-\x7f])|^[\u200c\u200d]+|[\u200c\u200d]+$"
)
_IDLE_SELECTORS = re.compile(f"(?<=[{_SELECTORS}])[{_SELECTORS}]+|^[{_SELECTORS}]+")
_NOT_IN_NAMES = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028\u2029{_BIDI}{_INVISIBLE}]")
_NOT_SEEN = re.compile(f"[\\s\u200c-\u200f\u2800{_SELECTORS}]*")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_UNSTORABLE_TEXT = "must not hold NUL or lone surrogates"

# Of a value within JSON: the place of the object or list that holds it, and its key or index there. None: the whole.
_Place: TypeAlias = "tuple[_Place, str | int] | None"


class BadInput(ValueError):
    """A value in a request is invalid; `at` is its JSON pointer or the name of the parameter."""

    def __init__(self, message: str, *, at: str = "") -> None:
        super().__init__(message)
        self.at = at


class TooLarge(BadInput):
    """A part of a request exceeds its size limit."""


def checked_name(text: str, *, at: str) -> str:
    """Return an identifier, label or name unchanged.

    Raises BadInput for control, line break, bidi control and invisible characters, and if nothing is visible.
    """
    if _NOT_IN_NAMES.search(text) or _UNSTORABLE.search(text):
        raise BadInput("must not hold control, line break, bidirectional control or invisible characters", at=at)
    if text and _is_blank(text):
        raise BadInput("must not be blank", at=at)
    return text


def _is_blank(text: str) -> bool:
    return _NOT_SEEN.fullmatch(text) is not None


def cleaned_text(text: str, *, at: str, most: int) -> str:
    """Return content without invisible characters and with all line breaks as newlines.

    Raises BadInput for NUL, lone surrogates and content without visible characters, TooLarge over `most` characters.
    """
    if len(text) > most:
        raise TooLarge(f"holds {len(text):,} characters, at most {most:,} are taken", at=at)
    if _UNSTORABLE.search(text):
        raise BadInput(_UNSTORABLE_TEXT, at=at)
    cleaned = _NO_WORDS.sub("", _LINE_BREAKS.sub("\n", text))
    if not cleaned.isascii():
        cleaned = _IDLE_SELECTORS.sub("", _IDLE_JOINERS.sub("", cleaned))
    if _is_blank(cleaned):
        raise BadInput("must not be blank", at=at)
    return cleaned


def checked_said_at(moment: datetime | None, *, at: str, now: datetime) -> datetime | None:
    """Return when something was said, in UTC; a time without an offset is taken as UTC.

    A time ahead of the clock by more than CLOCK_SKEW becomes `now`: later statements supersede earlier ones, so a
    statement from the future could not be corrected. Raises BadInput before 1900 and more than a year ahead.
    """
    if moment is None:
        return None
    said_at = _between(moment, EARLIEST_SAID, now + AHEAD, at)
    return now if said_at > now + CLOCK_SKEW else said_at


def offset_of(moment: datetime | None) -> int:
    """Return the UTC offset of a time in minutes, positive to the east; 0 if it has none."""
    offset = moment.utcoffset() if moment else None
    return round(offset / timedelta(minutes=1)) if offset else 0


def checked_moment(moment: datetime | None, *, at: str) -> datetime | None:
    """Return any other time, such as a validity, in UTC. Raises BadInput before year 1000 and from 2500 on."""
    return None if moment is None else _between(moment, EARLIEST, LATEST, at)


def _between(moment: datetime, earliest: datetime, latest: datetime, at: str) -> datetime:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if not earliest <= aware <= latest:
        raise BadInput(f"must lie between {earliest:%Y-%m-%d} and {latest:%Y-%m-%d}", at=at)
    return aware.astimezone(UTC)


def check_json(value: Any, *, max_depth: int = MAX_DEPTH) -> None:
    """Refuse JSON that a database can't store: NUL, lone surrogates, infinite numbers, deep nesting.

    Raises BadInput with the pointer of the first such value. Iterative, so that depth can't exhaust the stack.
    """
    open_values: list[tuple[_Place, int, Any]] = [(None, 0, value)]
    while open_values:
        place, depth, each = open_values.pop()
        if isinstance(each, str):
            if _UNSTORABLE.search(each):
                raise BadInput(_UNSTORABLE_TEXT, at=_pointer(place))
        elif isinstance(each, float) and not abs(each) < float("inf"):
            raise BadInput("must be a finite number", at=_pointer(place))
        elif isinstance(each, dict | list):
            if depth >= max_depth:
                raise BadInput(f"is nested deeper than {max_depth} levels", at=_pointer(place))
            if isinstance(each, dict) and any(map(_UNSTORABLE.search, each)):
                raise BadInput(_UNSTORABLE_TEXT, at=_pointer(place))
            children = each.items() if isinstance(each, dict) else enumerate(each)
            open_values += [((place, key), depth + 1, child) for key, child in children]


def _pointer(place: _Place) -> str:
    """Return the JSON pointer of a place; only that of a value that is refused is needed."""
    steps: list[str] = []
    while place is not None:
        place, step = place
        steps.append(f"/{pointer_part(str(step))}")
    return "".join(reversed(steps))


def check_storable(text: str, *, at: str) -> None:
    """Refuse text that PostgreSQL or UTF-8 can't represent. Raises BadInput for NUL and lone surrogates."""
    if _UNSTORABLE.search(text):
        raise BadInput(_UNSTORABLE_TEXT, at=at)


def storable(text: str) -> str:
    """Return a text that PostgreSQL and UTF-8 can represent: other characters are replaced."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def pointer_part(key: str) -> str:
    """Escape a key for a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")
