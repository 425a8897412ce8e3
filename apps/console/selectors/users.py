"""End users and their memories."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, F, Max, Min, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from apps.memories.models import Memory
from apps.pipeline.core.enums import LIVE_STATUSES, Status, values_of
from apps.pipeline.core.type_traits import SLOT_TYPES
from apps.tenants.models import EndUser

MAX_TIMELINES = 60


@dataclass(frozen=True, slots=True)
class FactPeriod:
    """A value and the period in which it was valid; `start` and `width` in percent."""

    memory: Memory
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class FactTimeline:
    """The values of a subject and predicate over time, latest first."""

    subject: str
    predicate: str
    values: tuple[FactPeriod, ...]


def end_users(*, project_id: UUID, words: str = "") -> QuerySet[EndUser]:
    """Return the end users of a project that were not erased, newest first, annotated with `live_memories`."""
    live = Memory.objects.filter(end_user=OuterRef("pk"), status__in=values_of(LIVE_STATUSES))
    counted = live.order_by().values("end_user").annotate(rows=Count("pk")).values("rows")
    rows = EndUser.objects.for_project(project_id).present()
    if words:
        rows = rows.filter(external_id__icontains=words)
    return rows.annotate(live_memories=Coalesce(Subquery(counted), 0)).order_by("-created_at", "id")


def count_by_status(*, end_user_id: UUID) -> dict[str, int]:
    """Count the memories of a user by status."""
    counted = Memory.objects.for_end_user(end_user_id).order_by().values_list("status").annotate(rows=Count("id"))
    return dict(counted)


def facts_over_time(*, end_user_id: UUID, now: datetime) -> tuple[FactTimeline, ...]:
    """Return the values of each subject and predicate on a common time scale."""
    shown = [Status.ACTIVE, Status.PENDING_REVIEW, Status.SUPERSEDED]
    rows = Memory.objects.for_end_user(end_user_id).filter(status__in=shown).exclude(predicate="")
    rows = rows.filter(type__in=values_of(SLOT_TYPES))
    span = rows.aggregate(first=Min("valid_from"), last=Max("valid_until"))
    begins = min(span["first"] or now, now)
    scale = max((now - begins).total_seconds(), 1.0)
    timelines: dict[tuple[str, str], list[FactPeriod]] = {}
    for row in rows.to_show().order_by(
        F("subject__is_user").desc(nulls_last=True), "subject_id", "predicate", "-valid_from"
    ):
        key = (row.subject.name if row.subject else "", row.predicate)
        if key in timelines or len(timelines) < MAX_TIMELINES:
            timelines.setdefault(key, []).append(_fact_period(row, begins, now, scale))
    return tuple(FactTimeline(subject, predicate, tuple(values)) for (subject, predicate), values in timelines.items())


def _fact_period(memory: Memory, begins: datetime, now: datetime, scale: float) -> FactPeriod:
    until = min(memory.valid_until or now, now)
    start = (memory.valid_from - begins).total_seconds() / scale * 100
    width = (until - memory.valid_from).total_seconds() / scale * 100
    start = min(max(start, 0.0), 99.0)
    return FactPeriod(memory, round(start, 2), round(min(max(width, 1.0), 100.0 - start), 2))
