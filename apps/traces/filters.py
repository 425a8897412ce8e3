"""Filters of the list of traces."""

from datetime import datetime
from typing import Any
from uuid import UUID

import django_filters
from django import forms
from django.db.models import Exists, OuterRef, Q, QuerySet

from apps.console.filters import UserAndDaysFilter, search_filter, tab_filter, word_filter
from apps.pipeline.core.enums import Reason, TraceStatus
from apps.traces.models import Trace, Turn

LATEST = 20_000  # traces of a project in which words and reasons are searched, unless a user narrows them
MAX_WORDS = 8


class TraceFilter(UserAndDaysFilter):
    """Traces by words of their turns, user, reason, rule, days and status.

    Words, reasons and rules are searched in the latest traces alone, unless a user narrows them.
    """

    q = search_filter("Words of a turn, or trc_…", name="Words of a turn, or a trace identifier", method="of_words")
    reason = word_filter(Reason, "Reason", any_word="any reason", method="of_reason")
    rule = django_filters.CharFilter(widget=forms.HiddenInput, method="of_rule")  # given by the page of the rule
    status = tab_filter(TraceStatus, "Status")

    class Meta:
        model = Trace
        fields = ("q", "user", "reason", "rule", "since", "until", "status")

    def of_words(self, rows: QuerySet[Trace], name: str, value: str) -> QuerySet[Trace]:
        """Keep traces with a turn that contains all words."""
        said = Turn.objects.filter(end_user=OuterRef("end_user"), trace=OuterRef("pk"))
        return self._searched(rows).filter(Exists(with_words(said, split_words(value))))

    def of_reason(self, rows: QuerySet[Trace], name: str, value: str) -> QuerySet[Trace]:
        """Keep traces of which something was dropped for a reason."""
        dropped = Q(counts__rejected__has_key=value) | Q(outcomes__contains=[{"reason": value}])
        return self._searched(rows).filter(dropped)

    def of_rule(self, rows: QuerySet[Trace], name: str, value: str) -> QuerySet[Trace]:
        """Keep traces with a turn that the rule dropped."""
        dropped = Turn.objects.filter(end_user=OuterRef("end_user"), trace=OuterRef("pk"), rejected_by=value)
        return self._searched(rows).filter(Exists(dropped))

    def _searched(self, rows: QuerySet[Trace]) -> QuerySet[Trace]:
        if self.form.cleaned_data.get("user"):
            return rows
        oldest = oldest_of_latest(self.project_id)
        return rows.filter(created_at__gt=oldest) if oldest else rows


def split_words(text: str) -> tuple[str, ...]:
    """Return the words of a search."""
    return tuple(text.split()[:MAX_WORDS])


def with_words(rows: QuerySet[Any], words: tuple[str, ...]) -> QuerySet[Any]:
    """Keep turns or memories that contain all words, ignoring case."""
    for word in words:
        rows = rows.filter(content__icontains=word)
    return rows


def oldest_of_latest(project_id: UUID) -> datetime | None:
    """Return when the newest trace outside the latest ones was accepted; None if there is none."""
    newest = Trace.objects.filter(project_id=project_id).order_by("-created_at")
    return newest.values_list("created_at", flat=True)[LATEST : LATEST + 1].first()
