"""Pages of long lists by the position of a row in the order: as fast on the last page as on the first."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest

from apps.console.paging import ROWS
from apps.console.query_params import moment_of, query_param

_SEPARATOR = "~"


@dataclass(frozen=True, slots=True)
class KeysetOrder:
    """An order by one column that is never null, and by the identifier where two rows have the same value."""

    column: str
    is_descending: bool = True
    kind: type[datetime] | type[float] = datetime

    def sorted(self, rows: QuerySet[Any], *, backwards: bool = False) -> QuerySet[Any]:
        """Return rows in this order, or in the opposite one."""
        sign = "-" if self.is_descending != backwards else ""
        return rows.order_by(f"{sign}{self.column}", f"{sign}id")

    def beyond(self, position: "Position", *, backwards: bool = False) -> Q:
        """Return the condition of the rows after a position, or of those before it."""
        how = "lt" if self.is_descending != backwards else "gt"
        # The first condition alone bounds what the database reads of an index.
        bound = Q(**{f"{self.column}__{how}e": position.value})
        return bound & (Q(**{f"{self.column}__{how}": position.value}) | Q(**{f"id__{how}": position.row_id}))


@dataclass(frozen=True, slots=True)
class Position:
    """The place of a row in an order."""

    value: datetime | float
    row_id: UUID


@dataclass(frozen=True, slots=True)
class KeysetPage:
    """One page of a list; `before` and `after` name its neighbours in the query string, "" is none."""

    rows: list[Any]
    before: str = ""
    after: str = ""


def keyset_page(rows: QuerySet[Any], request: HttpRequest, *, order: KeysetOrder, size: int = ROWS) -> KeysetPage:
    """Return the page that `after` or `before` in the query string names, by default the first.

    A page whose rows are gone is the first one, too. Two queries: one for the identifiers, so that only the rows of
    the page are read in full.
    """
    after, before = (_position(query_param(request, name), order.kind) for name in ("after", "before"))
    start = after or before
    found = _page(rows, order, size, start=start, backwards=after is None and before is not None)
    return found if found.rows or start is None else _page(rows, order, size)


def _page(
    rows: QuerySet[Any], order: KeysetOrder, size: int, *, start: Position | None = None, backwards: bool = False
) -> KeysetPage:
    chosen = rows.filter(order.beyond(start, backwards=backwards)) if start else rows
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


def _position(text: str, kind: type[datetime] | type[float]) -> Position | None:
    """Return the position that a text names; None for any other text."""
    value, _, row_id = text.partition(_SEPARATOR)
    try:
        parsed = _PARSERS[kind](value)
        return None if parsed is None else Position(parsed, UUID(row_id))
    except ValueError:
        return None


def _number(text: str) -> float | None:
    number = float(text)
    return number if abs(number) <= 1e9 else None  # NaN and infinity are no positions


_PARSERS: dict[type, Callable[[str], datetime | float | None]] = {datetime: moment_of, float: _number}
