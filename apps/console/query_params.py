"""Reading what a request asks for: parameters of its query string, and which part of a page."""

from datetime import UTC, datetime, time, timedelta
from uuid import UUID

from django.http import HttpRequest
from django.utils.dateparse import parse_date, parse_datetime

MAX_CHARACTERS = 500


def query_param(request: HttpRequest, name: str, *, limit: int = MAX_CHARACTERS) -> str:
    """Return a text parameter of at most `limit` characters; NUL, which PostgreSQL rejects, becomes a space."""
    return request.GET.get(name, "").replace("\x00", " ").strip()[:limit]


def identifier_of(text: str) -> UUID | None:
    """Return the identifier in a text, else None."""
    try:
        return UUID(text)
    except ValueError:
        return None


def is_detail(request: HttpRequest) -> bool:
    """Return True if only the detail beside a list is asked for, and not a whole page."""
    return is_part(request, "detail")


def is_part(request: HttpRequest, name: str) -> bool:
    """Return True if only the element with this HTML id is asked for, and not a whole page."""
    htmx = request.htmx  # type: ignore[attr-defined]  # set by django_htmx's middleware
    return bool(htmx) and htmx.target == name


def midnight(text: str) -> datetime | None:
    """Return the start of a day in UTC; None for a text that names no day."""
    try:
        day = parse_date(text)
    except ValueError:  # well-formed, but no such day
        return None
    return datetime.combine(day, time.min, tzinfo=UTC) if day and day.year > 1 and day.year < 9999 else None


def moment_of(text: str) -> datetime | None:
    """Return the moment in a text with an offset; None for any other text."""
    try:
        moment = parse_datetime(text)
    except ValueError:  # well-formed, but no such time
        return None
    return moment if moment is not None and moment.tzinfo is not None and 1 < moment.year < 9999 else None


def next_midnight(text: str) -> datetime | None:
    """Return the end of a day in UTC, which is the start of the next; None for a text that names no day."""
    start = midnight(text)
    return start + timedelta(days=1) if start else None
