"""End users, and what is kept of one of them."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, F, Max, Min, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from apps.memories.models import Memory
from apps.pipeline.core.enums import LIVE_STATUSES, Status, values_of
from apps.pipeline.core.type_traits import SLOT_TYPES
from apps.tenants.models import EndUser

MOST_SLOTS = 60


@dataclass(frozen=True, slots=True)
class Held:
    """One value and the time in which it held, with its place in the picture, in hundredths of the width."""

    memory: Memory
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Slot:
    """One thing that is known of somebody, with its values over time, the latest first."""

    subject: str
    predicate: str
    values: tuple[Held, ...]


def end_users(*, project_id: UUID, words: str = "") -> QuerySet[EndUser]:
    """Return the project's end users, the newest first, each with the number of its live memories as `kept`."""
    live = Memory.objects.filter(end_user=OuterRef("pk"), status__in=values_of(LIVE_STATUSES))
    counted = live.order_by().values("end_user").annotate(rows=Count("pk")).values("rows")
    rows = EndUser.objects.filter(project_id=project_id, erased_at__isnull=True)
    if words:
        rows = rows.filter(external_id__icontains=words)
    return rows.annotate(kept=Coalesce(Subquery(counted), 0)).order_by("-created_at", "id")


def count_by_status(*, end_user_id: UUID) -> dict[str, int]:
    """Count what is kept of a user by where it stands."""
    counted = Memory.objects.for_end_user(end_user_id).order_by().values_list("status").annotate(rows=Count("id"))
    return dict(counted)


def facts_over_time(*, end_user_id: UUID, now: datetime) -> tuple[Slot, ...]:
    """Return what is or was held of each subject and predicate, drawn on one line of time."""
    shown = [Status.ACTIVE, Status.PENDING_REVIEW, Status.SUPERSEDED]
    rows = Memory.objects.for_end_user(end_user_id).filter(status__in=shown).exclude(predicate="")
    rows = rows.filter(type__in=values_of(SLOT_TYPES))
    span = rows.aggregate(first=Min("valid_from"), last=Max("valid_until"))
    begins = min(span["first"] or now, now)
    scale = max((now - begins).total_seconds(), 1.0)
    slots: dict[tuple[str, str], list[Held]] = {}
    for row in rows.to_show().order_by(
        F("subject__is_user").desc(nulls_last=True), "subject_id", "predicate", "-valid_from"
    ):
        key = (row.subject.name if row.subject else "", row.predicate)
        if key in slots or len(slots) < MOST_SLOTS:
            slots.setdefault(key, []).append(_held(row, begins, now, scale))
    return tuple(Slot(subject, predicate, tuple(values)) for (subject, predicate), values in slots.items())


def _held(memory: Memory, begins: datetime, now: datetime, scale: float) -> Held:
    until = min(memory.valid_until or now, now)
    start = (memory.valid_from - begins).total_seconds() / scale * 100
    width = (until - memory.valid_from).total_seconds() / scale * 100
    start = min(max(start, 0.0), 99.0)
    return Held(memory, round(start, 2), round(min(max(width, 1.0), 100.0 - start), 2))
