"""Base classes of the admin: read-only tables, capped counts, search by public identifiers."""

from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.forms.models import BaseInlineFormSet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.text import smart_split, unescape_string_literal

from apps.pipeline.core.identifiers import BadIdentifier, Prefix, parse
from apps.tenants.models import EndUser

MAX_COUNT = 10_000  # rows; counting all rows of a large table is too slow
MAX_USERS = 1_000  # whose rows a search by a user's name finds, where these are looked up first


def fields_of(fieldsets: Any) -> tuple[Any, ...]:
    """Return all fields of some fieldsets."""
    return tuple(field for _, options in fieldsets for field in options["fields"])


class CappedPaginator(Paginator):
    """Paginate the first rows of a list; later rows are found by search and filters."""

    @cached_property
    def count(self) -> int:
        """Count up to the limit."""
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment]  # the admin pages nothing else
        return rows.order_by()[:MAX_COUNT].count()

    @property
    def is_capped(self) -> bool:
        """Return True if there may be more rows than counted."""
        return self.count == MAX_COUNT


class BaseAdmin(admin.ModelAdmin):
    """A changelist that stays fast on large tables: newest first by UUIDv7 key, with a capped count."""

    paginator = CappedPaginator
    ordering: ClassVar[tuple[str, ...]] = ("-pk",)
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 50
    prefix: Prefix | None = None  # of the public identifiers that the search accepts
    console_page = ""  # name of the URL that shows a row in the console

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find a row by its public identifier or UUID, else search as usual."""
        identifier = self._identifier(search_term.strip())
        if identifier is not None:
            return queryset.filter(pk=identifier), False
        return super().get_search_results(request, queryset, search_term)

    def get_view_on_site_url(self, obj: Any = None) -> str | None:
        """Return the page of a row in the console; None where it has none."""
        if obj is None or not self.console_page:
            return None
        return reverse(f"console:{self.console_page}", args=[obj.project.slug, *self.console_arguments(obj)])

    def console_arguments(self, obj: Any) -> tuple[Any, ...]:
        """Return what the address of a row's page contains after the project."""
        return (obj.pk,)

    def _identifier(self, text: str) -> UUID | None:
        if self.prefix is None or not text:
            return None
        try:
            return parse(self.prefix, text)
        except BadIdentifier:
            return None


class ReadOnlyMixin:
    """Rows that only the pipeline, actions or the database write."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse."""
        return False


class ReadOnlyAdmin(ReadOnlyMixin, BaseAdmin):
    """A read-only table."""


class UserApartAdmin(ReadOnlyAdmin):
    """A read-only table whose rows may be on another server than their end users, so that they are not joined."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Read the end users of the shown rows by a statement of their own."""
        return super().get_queryset(request).prefetch_related("end_user")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find rows by what the user is called as well: each word in a column or in the name of the user."""
        if self._identifier(search_term.strip()) is not None:
            return super().get_search_results(request, queryset, search_term)
        found, may_repeat = queryset, False
        for word in smart_split(search_term):
            named, repeats = super().get_search_results(request, queryset, word)
            found &= named | queryset.filter(end_user_id__in=_users_called(word))
            may_repeat |= repeats
        return found, may_repeat


def _users_called(word: str) -> list[UUID]:
    """Return the first users with a word in their names; it may be a phrase in quotes, as the admin reads it."""
    is_quoted = len(word) > 1 and word[0] == word[-1] and word[0] in "\"'"
    phrase = unescape_string_literal(word) if is_quoted else word
    users = EndUser.objects.filter(external_id__icontains=phrase).order_by("id")
    return list(users.values_list("id", flat=True)[:MAX_USERS])


class SameUserFormSet(BaseInlineFormSet):
    """Restrict inline rows to the end user of the parent, with whom every index of these tables starts."""

    def __init__(self, *args: Any, **options: Any) -> None:
        parent, rows = options.get("instance"), options.get("queryset")
        if parent is not None and rows is not None:
            options["queryset"] = rows.filter(end_user_id=parent.end_user_id)
        super().__init__(*args, **options)


class ReadOnlyInline(ReadOnlyMixin, admin.TabularInline):
    """Read-only inline rows."""

    formset = SameUserFormSet
    extra = 0
    joins: tuple[str, ...] = ()

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """Make every column read-only."""
        return self.fields or ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Join the related rows that the columns show."""
        rows = super().get_queryset(request)
        return rows.select_related(*self.joins) if self.joins else rows
