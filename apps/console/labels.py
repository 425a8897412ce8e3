"""Stored words, counts and times as people read them."""

import math
from datetime import datetime
from typing import Any

from django.utils import timezone

from apps.common.number_formats import count_of as count_of
from apps.common.number_formats import duration as duration
from apps.common.number_formats import noun_for as noun_for
from apps.common.number_formats import percent as percent

# Stored values whose own word would be unclear on a page; all others only lose their underscores.
_LABELS = {
    "dead": "failed",
    "not_asserted": "not meant literally",
    "low_confidence": "said unsurely",
    "untrusted_role": "other role",
    "pre_filter": "pre-filter",
    "resolve_refs": "resolve names",
    "dedupe": "deduplicate",
    "kept_from": "kept one",
    "kept_to": "kept one",
    "patterns": "table and notes",
}


def label(word: Any) -> str:
    """Return the label of a stored value such as a status, stage or reason."""
    return _LABELS.get(str(word), str(word).replace("_", " "))


LONG_AGO = 30 * 86_400  # seconds
_UNITS = ((60, 1, "s"), (3_600, 60, "min"), (86_400, 3_600, "h"))


def time_since(moment: datetime) -> str:
    """Return how long ago a moment was, such as "5 s ago"; a future moment, and one long ago, as its date."""
    seconds = (timezone.now() - moment).total_seconds()
    if seconds < 0 or seconds >= LONG_AGO:
        return f"{moment:%Y-%m-%d}"
    for limit, unit, name in _UNITS:
        if seconds < limit:
            return f"{math.floor(seconds / unit)} {name} ago"
    return f"{math.floor(seconds / 86_400)} d ago"
