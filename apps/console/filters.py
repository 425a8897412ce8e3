"""Filters of lists: a user, days, and a choice of stored words."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

import django_filters
from django import forms
from django.db.models import QuerySet
from django.utils import timezone
from django_filters.constants import EMPTY_VALUES

from apps.console.labels import label
from apps.console.paging import MAX_CHARACTERS
from apps.pipeline.core.identifiers import end_user_id


def search_filter(placeholder: str, *, name: str = "", **options: Any) -> django_filters.CharFilter:
    """Return the filter of a search field; `name` is what is read aloud, if the placeholder does not say all."""
    attrs = {"placeholder": placeholder, "aria-label": name or placeholder, "data-search": True}
    return django_filters.CharFilter(label="", widget=forms.TextInput(attrs={"type": "search", **attrs}), **options)


def text_filter(placeholder: str, *, name: str = "", size: int = 14, **options: Any) -> django_filters.CharFilter:
    """Return the filter of a short text."""
    attrs = {"placeholder": placeholder, "aria-label": name or placeholder, "size": size}
    return django_filters.CharFilter(label="", widget=forms.TextInput(attrs=attrs), **options)


def word_filter(words: Iterable[StrEnum], name: str, *, any_word: str, **options: Any) -> django_filters.ChoiceFilter:
    """Return the filter by a stored word, such as a status."""
    return django_filters.ChoiceFilter(
        label="",
        choices=[(word.value, label(word)) for word in words],
        empty_label=any_word,
        widget=forms.Select(attrs={"aria-label": name}),
        **options,
    )


def tab_filter(
    words: Iterable[StrEnum], name: str, *, any_word: str = "all", **options: Any
) -> django_filters.ChoiceFilter:
    """Return the filter by a stored word that the page shows as tabs instead of a field."""
    choices = [(word.value, label(word)) for word in words]
    return django_filters.ChoiceFilter(
        label=name, choices=choices, empty_label=any_word, widget=forms.HiddenInput, **options
    )


class DayFilter(django_filters.DateFilter):
    """Rows from the start of a day in UTC, or with `is_end` until its end."""

    def __init__(self, *args: Any, is_end: bool = False, **options: Any) -> None:
        shown = {"label": "to" if is_end else "from", "widget": forms.DateInput(attrs={"type": "date"})}
        super().__init__(*args, **{"lookup_expr": "lt" if is_end else "gte", **shown, **options})
        self.is_end = is_end

    def filter(self, qs: QuerySet[Any], value: date | None) -> QuerySet[Any]:
        """Compare with the moment at which the day starts or ends."""
        if value is None or not 1 < value.year < 9999:
            return qs
        day = value + timedelta(days=1) if self.is_end else value
        return super().filter(qs, datetime.combine(day, time.min, tzinfo=timezone.get_default_timezone()))


class ProjectFilter(django_filters.FilterSet):
    """Filters of rows of the project that is visited; NUL, which PostgreSQL rejects, becomes a space."""

    def __init__(self, data: Mapping[str, str], *args: Any, **options: Any) -> None:
        texts = {name: text.replace("\x00", " ").strip()[:MAX_CHARACTERS] for name, text in data.items()}
        super().__init__(texts, *args, **options)

    @property
    def given(self) -> set[str]:
        """Return the names of the filters that narrow the list."""
        return {name for name, value in self.form.cleaned_data.items() if value not in EMPTY_VALUES}

    @property
    def project_id(self) -> UUID:
        """Return the project of the request."""
        return self.request.visit.project.pk  # type: ignore[union-attr]  # set by project_page


class UserAndDaysFilter(ProjectFilter):
    """The user, by the identifier that the application gives, and the days on which rows were created."""

    user = text_filter("User", name="User (exact)", method="of_user")
    since = DayFilter("created_at")
    until = DayFilter("created_at", is_end=True)

    def of_user(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep rows of the user; erased users are found as well."""
        return rows.filter(end_user_id=end_user_id(project_id=self.project_id, user_id=value))
