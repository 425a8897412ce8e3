"""Cursor pagination: stable while rows are added, and equally fast on every page."""

from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from rest_framework.exceptions import NotFound
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request

from apps.api.problems import invalid

_Row = TypeVar("_Row", bound=Model)


class Pages(CursorPagination):
    """DRF's cursor pagination, by default newest rows first; an invalid cursor is answered with 422."""

    def __init__(self, *, limit: int = 50, ordering: str = "-id") -> None:
        self.limit = limit
        # Identifiers increase with time and are unique, so rows created at the same moment are neither repeated nor
        # missed; another column must be unique within the list, too.
        self.ordering = ordering

    def read(self, rows: QuerySet[_Row], request: Request) -> list[_Row]:
        """Return the rows of the requested page. Raises Problem for an invalid cursor."""
        try:
            return list(self.paginate_queryset(rows, request) or [])
        except (NotFound, ValidationError, ValueError) as error:
            raise invalid("is not a cursor of this list", at="cursor") from error

    def decode_cursor(self, request: Request) -> Cursor | None:
        """Return the cursor of a request. Raises NotFound for one that names no place, such as a cut one.

        DRF answers it with the first page, so that a program which reads page after page would never end.
        """
        cursor: Cursor | None = super().decode_cursor(request)
        if cursor and cursor.position is None and not cursor.offset:
            raise NotFound
        return cursor

    def get_page_size(self, request: Request) -> int:
        """Return the requested size, which was validated before."""
        return self.limit

    def links(self) -> dict[str, Any]:
        """Return the URLs of the next and previous page."""
        return {"next": self.get_next_link(), "previous": self.get_previous_link()}

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Describe a page in the OpenAPI document."""
        properties = {"next": {"type": ["string", "null"]}, "previous": {"type": ["string", "null"]}, "results": schema}
        about = "A page of a list, with the addresses of the pages beside it; null at an end."
        return {"type": "object", "description": about, "required": list(properties), "properties": properties}
