"""Pages of lists, by number or by the last row, and parameters of queries."""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Model, Q, QuerySet
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


_SEPARATOR = "~"


@dataclass(frozen=True, slots=True)
class KeysetOrder:
    """An order by one column that is never null, and by the identifier where two rows have the same value."""

    column: str
    is_descending: bool = True
    parse: Callable[[str], datetime | float | None] = moment_of  # of a value in the query string

    def sorted(self, rows: QuerySet[Any], *, backwards: bool = False) -> QuerySet[Any]:
        """Return rows in this order, or in the opposite one."""
        sign = "-" if self.is_descending != backwards else ""
        return rows.order_by(f"{sign}{self.column}", f"{sign}id")

    def beyond(self, value: datetime | float, row_id: UUID, *, backwards: bool = False) -> Q:
        """Return the condition of the rows after the row with this value and identifier, or of those before it."""
        how = "lt" if self.is_descending != backwards else "gt"
        # The first condition alone bounds what the database reads of an index.
        bound = Q(**{f"{self.column}__{how}e": value})
        return bound & (Q(**{f"{self.column}__{how}": value}) | Q(**{f"id__{how}": row_id}))


@dataclass(frozen=True, slots=True)
class KeysetPage:
    """One page of a list; `before` and `after` name its neighbours in the query string, "" is none."""

    rows: list[Any]
    before: str = ""
    after: str = ""


ROWS = 50


def keyset_page(rows: QuerySet[Any], request: HttpRequest, *, order: KeysetOrder, size: int = ROWS) -> KeysetPage:
    """Return the page that `after` or `before` in the query string names, by default the first.

    A page whose rows are gone is the first one, too. Two queries: one for the identifiers, so that only the rows of
    the page are read in full.
    """
    for name, backwards in (("after", False), ("before", True)):
        value, _, row_id = query_param(request, name).partition(_SEPARATOR)
        with suppress(ValueError):  # any other text names no place
            place, start = order.parse(value), UUID(row_id)
            if place is None:
                continue
            found = _keyset_page(
                rows, order, size, start=order.beyond(place, start, backwards=backwards), backwards=backwards
            )
            return found if found.rows else _keyset_page(rows, order, size)
    return _keyset_page(rows, order, size)


def _keyset_page(
    rows: QuerySet[Any], order: KeysetOrder, size: int, *, start: Q | None = None, backwards: bool = False
) -> KeysetPage:
    chosen = rows.filter(start) if start else rows
    keys = list(order.sorted(chosen, backwards=backwards).values_list("pk", flat=True)[: size + 1])
    if not keys:
        return KeysetPage(rows=[])
    found = list(order.sorted(rows.filter(pk__in=keys[:size])))
    has_more = len(keys) > size
    return KeysetPage(
        rows=found,
        before=_named(found[0], order) if (has_more if backwards else start) else "",
        after=_named(found[-1], order) if (start if backwards else has_more) else "",
    )


def _named(row: Model, order: KeysetOrder) -> str:
    value = getattr(row, order.column)
    return f"{value.isoformat() if isinstance(value, datetime) else repr(value)}{_SEPARATOR}{row.pk}"


LAST_PAGE = 200  # rows beyond it are found by search and filters


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of a list."""

    rows: list[Any]
    number: int  # from 1
    has_next: bool
    size: int = ROWS

    @property
    def previous_number(self) -> int | None:
        """Return the number of the previous page."""
        return self.number - 1 if self.number > 1 else None

    @property
    def next_number(self) -> int | None:
        """Return the number of the next page."""
        return self.number + 1 if self.has_next and self.number < LAST_PAGE else None


def paginate(rows: QuerySet[Any], request: HttpRequest, *, size: int = ROWS) -> ListPage:
    """Return the page named in the query string, by default the first, and at most the last that has rows."""
    number = min(max(whole_number(request.GET.get("page", "")) or 1, 1), LAST_PAGE)
    found = _page(rows, number, size)
    if found.rows or number == 1:
        return found
    return _page(rows, max(math.ceil(rows[: number * size].count() / size), 1), size)


def _page(rows: QuerySet[Any], number: int, size: int) -> ListPage:
    first = (number - 1) * size
    found = list(rows[first : first + size + 1])
    return ListPage(rows=found[:size], number=number, has_next=len(found) > size, size=size)


def paginate_and_open(
    rows: QuerySet[Any], request: HttpRequest, *, load: Callable[[list[Any]], list[Any]] = list
) -> tuple[ListPage, Any]:
    """Return a page, and the row of it to open; None if there are no rows, or if `open` names none of them.

    The query string names the row by `open`, or by `after` or `before` its neighbour in the queue: at the end of a page
    that is a row of another page. By default it is the first one. `load` makes what is shown of the rows of a page.
    """
    found = paginate(rows, request)
    page = replace(found, rows=load(found.rows))
    for name, step in (("after", 1), ("before", -1)):
        if name in request.GET:
            return _neighbour(page, _place_of(page, request.GET[name]), step, rows, load)
    named = request.GET.get("open", "")
    place = _place_of(page, named) if named else 0
    return page, page.rows[place] if page.rows and place is not None else None


def _place_of(page: ListPage, named: str) -> int | None:
    """Return the place of the row with this identifier, or of the group of rows that contains it."""
    places = (place for place, row in enumerate(page.rows) if named in map(str, getattr(row, "ids", (row.pk,))))
    return next(places, None)


def _neighbour(
    page: ListPage, at: int | None, step: int, rows: QuerySet[Any], load: Callable[[list[Any]], list[Any]]
) -> tuple[ListPage, Any]:
    """Return the page of the row beside a row, and that row; at both ends of the queue, the row itself."""
    beside = 0 if at is None else at + step
    number = page.next_number if beside >= len(page.rows) else page.previous_number if beside < 0 else None
    if number is not None:
        other = _page(rows, number, page.size)
        page, beside = replace(other, rows=load(other.rows)), 0 if step > 0 else -1
    elif page.rows:
        beside = min(max(beside, 0), len(page.rows) - 1)
    return page, page.rows[beside] if page.rows else None


def whole_number(text: str) -> int | None:
    """Return the number in a text of at most nine digits, else None."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
