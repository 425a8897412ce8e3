"""How many rows a list would have in addition, by its filters, since it was shown."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse

from apps.console.paging import moment_of, query_param
from apps.review.selectors.review import ReviewFilters, review_queue
from apps.traces.selectors import TraceSearch, search_traces

MOST_COUNTED = 100
_OWN = frozenset({"list", "shown_at", "banner", "page", "open"})  # parameters that are no filters


@dataclass(frozen=True, slots=True)
class NewRows:
    """The number of new rows of a list, and the address that shows them."""

    count: int
    address: str

    @property
    def counted(self) -> str:
        """Return the number, or that there are more than were counted."""
        return f"{self.count}" if self.count < MOST_COUNTED else f"{MOST_COUNTED} or more"


def count_new_rows(request: HttpRequest, *, project_id: UUID, slug: str) -> NewRows | None:
    """Count the rows of the list that the query string names with its filters; None if it names none."""
    name, shown_at = query_param(request, "list"), moment_of(query_param(request, "shown_at"))
    if name not in _LISTS or shown_at is None:
        return None
    rows = _LISTS[name](request, project_id).filter(created_at__gt=shown_at).order_by()
    filters = request.GET.copy()
    for each in _OWN:
        filters.pop(each, None)
    address = reverse(f"console:{name}", args=[slug])
    return NewRows(
        count=rows.values("pk")[:MOST_COUNTED].count(),
        address=f"{address}?{filters.urlencode()}" if filters else address,
    )


_LISTS: dict[str, Callable[[HttpRequest, UUID], QuerySet[Any]]] = {
    "traces": lambda request, project_id: search_traces(project_id=project_id, search=TraceSearch.of(request)),
    "review": lambda request, project_id: review_queue(project_id=project_id, filters=ReviewFilters.of(request)),
}
