"""Pagination without counting all rows."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

ROWS = 50
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
            return _neighbour(page, place_of(page, request.GET[name]), step, rows, load)
    named = request.GET.get("open", "")
    if not page.rows or (named and place_of(page, named) is None):
        return page, None
    return page, page.rows[place_of(page, named) or 0]


def place_of(page: ListPage, named: str) -> int | None:
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
