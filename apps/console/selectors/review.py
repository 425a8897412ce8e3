"""The queue of what waits for a person."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Case, CharField, Count, F, Func, When
from django.http import QueryDict

from apps.memories.models import Memory
from apps.memories.querysets import MemoryQuerySet
from apps.pipeline.core.enums import MemoryType, Reason


@dataclass(frozen=True, slots=True)
class Filters:
    """What a reviewer wants to see of the queue."""

    reason: str = ""
    type: str = ""
    user: str = ""
    words: str = ""

    @classmethod
    def of(cls, query: QueryDict) -> "Filters":
        """Read them from a query string; what is no word of the vocabulary filters nothing."""
        reason, type_ = query.get("reason", ""), query.get("type", "")
        return cls(
            reason=reason if reason in set(Reason) else "",
            type=type_ if type_ in set(MemoryType) else "",
            user=query.get("user", "").strip(),
            words=query.get("q", "").strip(),
        )


def queue(*, project_id: UUID, filters: Filters) -> MemoryQuerySet:
    """Return what waits, most harmful first: contradictions before doubts, important before trivial, older first."""
    rows = narrowed(Memory.objects.for_project(project_id).awaiting_review(), filters)
    if filters.reason:
        rows = rows.filter(review_reasons__contains=[filters.reason])
    harm = Case(When(review_reasons__contains=[Reason.CONTRADICTION], then=0), default=1)
    return rows.to_show().order_by(harm, "-importance", "created_at", "id")


def narrowed(rows: MemoryQuerySet, filters: Filters) -> MemoryQuerySet:
    """Keep what the filters other than the reason ask for."""
    if filters.type:
        rows = rows.filter(type=filters.type)
    if filters.user:
        rows = rows.filter(end_user__external_id__icontains=filters.user)
    if filters.words:
        rows = rows.filter(content__icontains=filters.words)
    return rows


def count_by_reason(*, project_id: UUID, filters: Filters) -> list[tuple[str, int]]:
    """Count the queue by reason, the most frequent first; a memory counts for each of its reasons."""
    rows = narrowed(Memory.objects.for_project(project_id).awaiting_review(), filters)
    each = Func(F("review_reasons"), function="unnest", output_field=CharField())
    counted = rows.order_by().annotate(reason=each).values_list("reason").annotate(rows=Count("id"))
    return sorted(((str(reason), count) for reason, count in counted), key=lambda pair: -pair[1])
