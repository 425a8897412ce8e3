"""Lists page by page, without counting what nobody looks at."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

ROWS = 50
LAST_PAGE = 200  # what lies beyond is found by search and filters


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows of a list."""

    rows: list[Any]
    number: int  # from 1
    has_next: bool

    @property
    def before(self) -> int | None:
        """Return the number of the page before."""
        return self.number - 1 if self.number > 1 else None

    @property
    def after(self) -> int | None:
        """Return the number of the page after."""
        return self.number + 1 if self.has_next and self.number < LAST_PAGE else None


def page_of(rows: QuerySet[Any], request: HttpRequest, *, size: int = ROWS) -> Page:
    """Read the page that the query string names, the first one where it names none."""
    number = min(max(whole_number(request.GET.get("page", "")) or 1, 1), LAST_PAGE)
    first = (number - 1) * size
    found = list(rows[first : first + size + 1])
    return Page(rows=found[:size], number=number, has_next=len(found) > size)


def whole_number(text: str) -> int | None:
    """Read a number that a person may have typed."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
