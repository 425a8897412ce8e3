"""The review queue."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Case, CharField, Count, F, Func, When
from django.http import HttpRequest

from apps.console.query_params import query_param
from apps.memories.models import Memory
from apps.memories.querysets import MemoryQuerySet
from apps.pipeline.core.enums import MemoryType, Reason


@dataclass(frozen=True, slots=True)
class ReviewFilters:
    """Filters of the review queue."""

    reason: str = ""
    type: str = ""
    user: str = ""
    words: str = ""

    @classmethod
    def of(cls, request: HttpRequest) -> "ReviewFilters":
        """Read the filters from a query string; unknown values are ignored."""
        reason, type_ = query_param(request, "reason"), query_param(request, "type")
        return cls(
            reason=reason if reason in set(Reason) else "",
            type=type_ if type_ in set(MemoryType) else "",
            user=query_param(request, "user"),
            words=query_param(request, "q"),
        )


def review_queue(*, project_id: UUID, filters: ReviewFilters) -> MemoryQuerySet:
    """Return pending memories, riskiest first: contradictions, then by importance, then oldest first."""
    rows = apply_filters(Memory.objects.for_project(project_id).awaiting_review(), filters)
    if filters.reason:
        rows = rows.filter(review_reasons__contains=[filters.reason])
    risk = Case(When(review_reasons__contains=[Reason.CONTRADICTION], then=0), default=1)
    return rows.to_show().order_by(risk, "-importance", "created_at", "id")


def apply_filters(rows: MemoryQuerySet, filters: ReviewFilters) -> MemoryQuerySet:
    """Apply all filters except the reason."""
    if filters.type:
        rows = rows.filter(type=filters.type)
    if filters.user:
        rows = rows.filter(end_user__external_id__icontains=filters.user)
    if filters.words:
        rows = rows.filter(content__icontains=filters.words)
    return rows


def count_by_reason(*, project_id: UUID, filters: ReviewFilters) -> list[tuple[str, int]]:
    """Count pending memories by reason, most frequent first; a memory counts once for each of its reasons."""
    rows = apply_filters(Memory.objects.for_project(project_id).awaiting_review(), filters)
    each = Func(F("review_reasons"), function="unnest", output_field=CharField())
    counted = rows.order_by().annotate(reason=each).values_list("reason").annotate(rows=Count("id"))
    return sorted(((str(reason), count) for reason, count in counted), key=lambda pair: -pair[1])
