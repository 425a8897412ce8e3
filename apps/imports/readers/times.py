"""Times as other products write them."""

from datetime import UTC, datetime, timedelta
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment_of(value: Any) -> datetime | None:
    """Read seconds since 1970 or an ISO 8601 text; None for anything else. A time without an offset is in UTC."""
    if isinstance(value, bool):
        return None
    try:
        if isinstance(value, int | float):
            return _EPOCH + timedelta(seconds=value)
        if isinstance(value, str):
            moment = datetime.fromisoformat(value.strip())
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return None


def end_of_day(value: Any) -> datetime | None:
    """Read a date as its last second in UTC, a time as it is; None for anything else."""
    moment = moment_of(value)
    is_date = isinstance(value, str) and len(value.strip()) == len("2026-01-31")
    return moment + timedelta(days=1, seconds=-1) if moment and is_date else moment
