"""Pages by cursor: stable while rows are added, and as quick on the last page as on the first."""

from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from rest_framework.exceptions import NotFound
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request

from apps.api.problems import invalid

_Row = TypeVar("_Row", bound=Model)


class Pages(CursorPagination):
    """DRF's cursors, the newest rows first, with a 422 for cursors that aren't ours."""

    # Identifiers rise with time and are never equal, so that rows made in one moment can't be read twice or missed.
    ordering = "-id"

    def __init__(self, *, limit: int) -> None:
        self.limit = limit

    def read(self, rows: QuerySet[_Row], request: Request) -> list[_Row]:
        """Return the rows of the asked page. Raises Problem for a cursor that we didn't make."""
        try:
            return list(self.paginate_queryset(rows, request) or [])
        except (NotFound, ValidationError, ValueError) as error:
            raise invalid("is no cursor of this list", at="cursor") from error

    def get_page_size(self, request: Request) -> int:
        """Return the size that the query asked for; it has been checked by then."""
        return self.limit

    def links(self) -> dict[str, Any]:
        """Return the addresses of the pages beside this one."""
        return {"next": self.get_next_link(), "previous": self.get_previous_link()}
