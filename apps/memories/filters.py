"""Filters and orders of the pages of memories, users and entities."""

from collections.abc import Mapping
from enum import StrEnum

import django_filters
from django import forms
from django.db.models import Q
from django.utils import timezone

from apps.console.filters import DayFilter, ProjectFilter, search_filter, tab_filter, text_filter, word_filter
from apps.console.paging import KeysetOrder
from apps.memories.querysets import EntityQuerySet, MemoryQuerySet
from apps.pipeline.core.enums import EntityType, MemoryType, SourceConfidence, Stakes, Status
from apps.pipeline.core.statement import PLAIN
from apps.retrieval.query import shown_statuses
from apps.traces.policies import active_policy

NEWEST = KeysetOrder("created_at")
_ORDERS: Mapping[str, tuple[str, KeysetOrder]] = {
    "newest": ("newest first", NEWEST),
    "oldest": ("oldest first", KeysetOrder("created_at", is_descending=False)),
    "changed": ("last changed first", KeysetOrder("updated_at")),
    "unsure": ("least confident first", KeysetOrder("confidence", is_descending=False, parse=float)),
    "sure": ("most confident first", KeysetOrder("confidence", parse=float)),
    "important": ("most important first", KeysetOrder("importance", parse=float)),
}


class MemoryWriter(StrEnum):
    """What wrote a memory."""

    PLAIN = "plain"
    MODEL = "model"
    DIRECT = "direct write"


_BY_TABLE = Q(extractor__startswith=PLAIN)
_WRITTEN_BY: Mapping[str, Q] = {
    MemoryWriter.PLAIN: Q(trace__isnull=False) & _BY_TABLE,
    MemoryWriter.MODEL: Q(trace__isnull=False) & ~_BY_TABLE,
    MemoryWriter.DIRECT: Q(trace__isnull=True),
}


class Visibility(StrEnum):
    """Whether agents are told a memory at normal stakes, and why not."""

    SHOWN = "shown to agents"
    HELD_BACK = "held back"  # it waits for review, or its confidence is too low
    EXPIRED = "expired"
    ENDED = "no longer valid"


def _confidence_filter(name: str, lookup: str) -> django_filters.NumberFilter:
    widget = forms.NumberInput(attrs={"aria-label": name})
    return django_filters.NumberFilter("confidence", lookup, min_value=0, max_value=1, widget=widget)


class MemoryFilter(ProjectFilter):
    """Memories by their words, user, status and much else, and the order of the list."""

    q = search_filter("Words of the memory", method="of_words")
    user = text_filter("User", size=10, field_name="end_user__external_id", lookup_expr="icontains")
    of = django_filters.UUIDFilter("end_user_id", widget=forms.HiddenInput)
    status = word_filter(Status, "Status", any_word="any status")
    type = word_filter(MemoryType, "Type", any_word="any type")
    visibility = word_filter(Visibility, "Shown to agents", any_word="shown or not", method="of_visibility")
    by = django_filters.ChoiceFilter(
        choices=[(name, text) for name, (text, _) in _ORDERS.items()],
        empty_label=None,
        widget=forms.Select(attrs={"aria-label": "Order"}),
        method="in_order",
    )
    writer = django_filters.ChoiceFilter(
        choices=[(writer.value, f"written by {writer}") for writer in MemoryWriter],
        empty_label="written by any",
        widget=forms.Select(attrs={"aria-label": "Written by"}),
        method="of_writer",
    )
    source = word_filter(
        SourceConfidence, "How it was said", any_word="said in any way", field_name="source_confidence"
    )
    tag = text_filter("Tag", name="Tag (exact)", size=12, method="of_tag")
    least = _confidence_filter("Least confidence", "gte")
    most = _confidence_filter("Highest confidence", "lte")
    since = DayFilter("created_at")
    until = DayFilter("created_at", is_end=True)

    @property
    def given(self) -> set[str]:
        """Return the names of the filters that narrow the list; the order does not."""
        return super().given - {"by"}

    @property
    def has_folded(self) -> bool:
        """Return True if a filter is given that the page folds away."""
        return not self.given.isdisjoint({"writer", "source", "tag", "least", "most", "since", "until"})

    @property
    def order(self) -> KeysetOrder:
        """Return the order of the list."""
        by = self.form.cleaned_data.get("by")
        return _ORDERS[by][1] if by else NEWEST

    def in_order(self, rows: MemoryQuerySet, name: str, value: str) -> MemoryQuerySet:
        """Keep all rows: `order` is applied with the pages."""
        return rows

    def of_words(self, rows: MemoryQuerySet, name: str, value: str) -> MemoryQuerySet:
        """Keep memories that have all words in their content or in the name of their user."""
        return rows.of_words(value)

    def of_tag(self, rows: MemoryQuerySet, name: str, value: str) -> MemoryQuerySet:
        """Keep memories with a tag."""
        return rows.filter(tags__contains=[value])

    def of_writer(self, rows: MemoryQuerySet, name: str, value: str) -> MemoryQuerySet:
        """Keep memories that were written by this."""
        return rows.filter(_WRITTEN_BY[value])

    def of_visibility(self, rows: MemoryQuerySet, name: str, value: str) -> MemoryQuerySet:
        """Keep memories that agents are told at normal stakes, or are not told for a reason."""
        now, stakes = timezone.now(), Stakes.NORMAL
        if value == Visibility.EXPIRED:
            return rows.filter(expires_at__lte=now)
        if value == Visibility.ENDED:
            return rows.filter(valid_until__lte=now)
        least = active_policy(project_id=self.project_id).retrieval.least_confidence[stakes]
        if value == Visibility.HELD_BACK:
            return rows.filter(Q(status=Status.PENDING_REVIEW) | Q(status=Status.ACTIVE, confidence__lt=least))
        return rows.filter(status__in=shown_statuses(stakes), confidence__gte=least).true_at(now)


class UserFilter(ProjectFilter):
    """Users by a part of their identifier."""

    q = search_filter("User ID", field_name="external_id", lookup_expr="icontains")


class NameFilter(ProjectFilter):
    """Entities by a part of one of their names."""

    q = search_filter("Name", method="of_name")

    def of_name(self, rows: EntityQuerySet, name: str, value: str) -> EntityQuerySet:
        """Keep entities that are called so."""
        return rows.called(value)


class EntityFilter(NameFilter):
    """Entities by name and type."""

    type = tab_filter(EntityType, "Type")
