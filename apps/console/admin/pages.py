"""What the admin's pages share: read-only tables, counts with a limit, look-up by shown identifiers."""

from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.forms.models import BaseInlineFormSet
from django.http import HttpRequest
from django.utils.functional import cached_property

from apps.pipeline.core.identifiers import BadIdentifier, Prefix, parse

MOST_COUNTED = 10_000  # rows; counting all of a big table costs more than the page


def fields_of(fieldsets: Any) -> tuple[Any, ...]:
    """Return all fields of some fieldsets."""
    return tuple(field for _, options in fieldsets for field in options["fields"])


class CappedPaginator(Paginator):
    """Pages over the first rows of a list; what lies beyond is found by search and filters."""

    @cached_property
    def count(self) -> int:
        """Count up to the limit."""
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment]  # the admin pages nothing else
        return rows.order_by()[:MOST_COUNTED].count()

    @property
    def is_capped(self) -> bool:
        """Tell whether there may be more rows than the count says."""
        return self.count == MOST_COUNTED


class Page(admin.ModelAdmin):
    """A list that stays quick on a big table: newest first by its UUIDv7 key, nothing counted in full."""

    paginator = CappedPaginator
    ordering: ClassVar[tuple[str, ...]] = ("-pk",)
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 50
    prefix: Prefix | None = None  # of the identifiers that the search field takes

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find a row by its identifier, as shown or as a UUID; else search as usual."""
        identifier = self._identifier(search_term.strip())
        if identifier is not None:
            return queryset.filter(pk=identifier), False
        return super().get_search_results(request, queryset, search_term)

    def _identifier(self, text: str) -> UUID | None:
        if self.prefix is None or not text:
            return None
        try:
            return parse(self.prefix, text)
        except BadIdentifier:
            return None


class ReadOnly:
    """Rows that are looked at: the funnel, an action or the database alone writes them."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse."""
        return False


class ReadOnlyPage(ReadOnly, Page):
    """A list of rows that can't be changed here."""


class OneUsersRows(BaseInlineFormSet):
    """Rows below a parent of the same end user: every index of these tables begins with the end user."""

    def __init__(self, *args: Any, **options: Any) -> None:
        parent, rows = options.get("instance"), options.get("queryset")
        if parent is not None and rows is not None:
            options["queryset"] = rows.filter(end_user_id=parent.end_user_id)
        super().__init__(*args, **options)


class ReadOnlyRows(ReadOnly, admin.TabularInline):
    """Rows shown with their parent; the columns are what is listed, and nothing can be typed."""

    formset = OneUsersRows
    extra = 0
    joins: tuple[str, ...] = ()

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """Show every column as text."""
        return self.fields or ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Read what the columns name together with the rows."""
        rows = super().get_queryset(request)
        return rows.select_related(*self.joins) if self.joins else rows
