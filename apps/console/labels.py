"""Stored words, counts and times as people read them."""

import math
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

# Stored values whose own word would be unclear on a page; all others only lose their underscores.
_LABELS = {
    "dead": "failed",
    "not_asserted": "hypothetical or quoted",
    "pre_filter": "pre-filter",
    "resolve_refs": "resolve names",
    "dedupe": "deduplicate",
}


def label(word: Any) -> str:
    """Return the label of a stored value such as a status, stage or reason."""
    return _LABELS.get(str(word), str(word).replace("_", " "))


def noun_for(number: int, singular: str, plural: str = "") -> str:
    """Return the noun in the form that agrees with a number."""
    return singular if number == 1 else plural or f"{singular}s"


def count_of(number: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun: "1 turn", "2 turns"."""
    return f"{number:,} {noun_for(number, singular, plural)}"


_UNITS = ((60, 1, "s"), (3_600, 60, "min"), (86_400, 3_600, "h"))


def time_since(moment: datetime) -> str:
    """Return how long ago a moment was, such as "5 s ago"; a future moment as its date."""
    seconds = (timezone.now() - moment).total_seconds()
    if seconds < 0:
        return f"{moment:%Y-%m-%d}"
    for limit, unit, name in _UNITS:
        if seconds < limit:
            return f"{math.floor(seconds / unit)} {name} ago"
    return f"{math.floor(seconds / 86_400)} d ago"


def percent(share: float | None) -> str:
    """Format a share from 0 to 1 in percent; the smaller it is, the more decimals."""
    if share is None:
        return "–"
    decimals = 0 if share >= 0.1 or share == 0 else 1 if share >= 0.01 else 2
    return f"{share:.{decimals}%}"


def duration(microseconds: int) -> str:
    """Format a duration given in microseconds."""
    if microseconds < 1_000:
        return f"{microseconds} µs"
    if microseconds < 1_000_000:
        return f"{microseconds / 1_000:.1f} ms"
    if microseconds < 60_000_000:
        return f"{microseconds / 1_000_000:.1f} s"
    return str(timedelta(seconds=round(microseconds / 1_000_000)))
