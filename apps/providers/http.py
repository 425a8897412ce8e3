"""What both SDKs' HTTP clients have in common."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def retry_after_seconds(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Return the wait in seconds that an answer asks for, as a number or a date; None if it names none."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1_000
    header = headers.get("retry-after", "")
    seconds = _number(header)
    return _until(header, now or datetime.now(UTC)) if seconds is None else seconds


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _until(date: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return None
    in_utc = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (in_utc - now).total_seconds())
