"""Pagination without counting all rows."""

import math
from dataclasses import dataclass
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
    return ListPage(rows=found[:size], number=number, has_next=len(found) > size)


def opened_row(page: ListPage, request: HttpRequest) -> Any:
    """Return the row of a page that has rows which the parameter `open` names, by default the first."""
    named = request.GET.get("open", "")
    return next((row for row in page.rows if str(row.pk) == named), page.rows[0])


def whole_number(text: str) -> int | None:
    """Return the number in a text of at most nine digits, else None."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
