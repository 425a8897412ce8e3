"""The Django admin: every table of the product, read-only, for operators. Changes are made in the console or by API."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, ClassVar
from uuid import UUID

from django.apps import apps
from django.contrib import admin
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.search import SearchVectorField
from django.core.paginator import Paginator
from django.db import models
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import cached_property
from pgvector.django import VectorField

from apps.tenants.encrypted_text import EncryptedTextField

LABELS = ("alerts", "events", "imports", "items", "memories", "outbox", "tenants", "traces")
MAX_COUNT = 10_000  # rows; counting all rows of a large table is too slow
MAX_COLUMNS = 9
MAX_CHARACTERS = 80  # of a text in a list
# The page of the console that shows a row, and the attribute of the row that is in its address.
CONSOLE_PAGES = {
    "memory": ("memory", "pk"),
    "trace": ("trace", "pk"),
    "entity": ("entity", "pk"),
    "rollback": ("rollback", "pk"),
    "enduser": ("user", "pk"),
    "configurationversion": ("version", "number"),
}
_UNREADABLE = (models.BinaryField, VectorField, SearchVectorField, EncryptedTextField)
_LONG = (models.JSONField, ArrayField)
_SPOKEN = frozenset({"content", "text"})  # what a row says, which is shown before other texts


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


class ReadOnlyAdmin(admin.ModelAdmin):
    """A read-only table without secrets, hashes, vectors and files; `admin_of` adds what depends on its model."""

    paginator = CappedPaginator
    ordering: ClassVar[tuple[str, ...]] = ("-pk",)
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 50
    search_help_text = "an identifier, a user, or words"
    left_out: tuple[str, ...] = ()  # columns

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Don't load the columns that are not shown."""
        return super().get_queryset(request).defer(*self.left_out)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find a row by its public identifier or UUID, else search as usual."""
        if isinstance(self.model._meta.pk, models.UUIDField):
            with suppress(ValueError):  # of a text that is no identifier, with the prefix of its kind or without
                return queryset.filter(pk=UUID(search_term.strip().rpartition("_")[2])), False
        return super().get_search_results(request, queryset, search_term)

    def get_view_on_site_url(self, obj: Any = None) -> str | None:
        """Return the page of a row in the console; None where it has none."""
        if obj is None:
            return None
        if self.opts.model_name == "project":
            return reverse("console:project", args=[obj.slug])
        if self.opts.model_name not in CONSOLE_PAGES or not getattr(obj, "external_id", True):
            return None
        page, attribute = CONSOLE_PAGES[self.opts.model_name]
        return reverse(f"console:{page}", args=[obj.project.slug, getattr(obj, attribute)])

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse, as any change."""
        return False

    has_change_permission = has_delete_permission = has_add_permission


def _start_of(field: Any) -> Any:
    """Return a column with the start of a text."""

    @admin.display(description=field.verbose_name, ordering=field.name)
    def start(row: Any) -> str:
        text = str(getattr(row, field.name))
        return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"

    start.__name__ = field.name  # from which the admin derives the CSS class
    return start


def admin_of(model: type[Model]) -> type[ReadOnlyAdmin]:
    """Return the admin class of a model: which of its columns are listed, filtered, searched and shown."""
    concrete: Sequence[Any] = model._meta.concrete_fields
    fields = [field for field in concrete if not isinstance(field, _UNREADABLE) and "hash" not in field.name]
    names = tuple(field.name for field in fields)
    columns = [field for field in fields if not isinstance(field, _LONG)]
    texts = [field for field in columns if isinstance(field, models.TextField)]
    texts.sort(key=lambda field: field.name not in _SPOKEN)
    others = [field for field in columns if field not in texts and not field.primary_key][: MAX_COLUMNS - 2]
    words = [*texts[:1], *(field for field in columns if isinstance(field, models.CharField) and not field.choices)]
    filters = [
        field for field in columns if field.choices or field.name == "project" or isinstance(field, models.BooleanField)
    ]
    attributes = {
        "list_display": (*(map(_start_of, texts[:1]) if texts else ["pk"]), *(field.name for field in others)),
        "list_select_related": tuple(field.name for field in others if field.is_relation),
        "list_filter": tuple(field.name for field in filters),
        "search_fields": (
            *(field.name for field in words),
            *(["end_user__external_id"] if "end_user" in names else []),
        ),
        "fields": names,
        "readonly_fields": names,
        "left_out": tuple(field.name for field in concrete if field not in fields),
    }
    return type(f"{model.__name__}Admin", (ReadOnlyAdmin,), attributes)


for label in LABELS:
    for shown in apps.get_app_config(label).get_models():
        admin.site.register(shown, admin_of(shown))
admin.site.site_header = "memplatform"
admin.site.site_url = None  # the header links the console by its name instead
admin.site.site_title = "memplatform"
admin.site.index_title = "All tables"
