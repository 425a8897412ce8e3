"""Figures of retrieval from labels: what was found, and what should have been."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Count, Exists, IntegerField, OuterRef, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from apps.memories.models import Memory, MemoryLink, MemoryVersion
from apps.pipeline.core.enums import LinkKind, Status
from apps.review.services import APPROVALS
from apps.tuning.evaluation.samples import Share, share_of

HORIZON = timedelta(days=30)  # after a memory was told for the first time


@dataclass(frozen=True, slots=True)
class RetrievalFigures:
    """The memories that were told, by what became of them; one may count for several outcomes.

    `precision` is the share of those that were confirmed among those of which anything was heard again.
    """

    told: int
    confirmed: int
    contradicted: int
    superseded: int
    precision: Share


def read_retrieval(*, project_id: UUID, weeks: int, now: datetime) -> RetrievalFigures:
    """Count the outcomes of the memories that were told for the first time in the weeks before the last 30 days.

    When a memory was told is counted in batches after the search (`count_accesses`): see `Memory.first_accessed`.
    """
    latest = now - HORIZON
    told = Memory.objects.for_project(project_id).filter(
        first_accessed__gt=latest - timedelta(weeks=weeks), first_accessed__lte=latest
    )
    # A later objection outweighs a confirmation.
    confirmed, wrong = Q(was_confirmed=True), Q(was_contradicted=True) | Q(was_superseded=True)
    counts = told.annotate(
        was_confirmed=Exists(_confirmations()),
        was_contradicted=Exists(_contradictions()),
        was_superseded=_was_superseded(),
    ).aggregate(
        told=Count("id"),
        confirmed=Count("id", filter=confirmed),
        contradicted=Count("id", filter=Q(was_contradicted=True)),
        superseded=Count("id", filter=Q(was_superseded=True)),
        right=Count("id", filter=confirmed & ~wrong),
        heard_of=Count("id", filter=confirmed | wrong),
    )
    precision = share_of(part=counts.pop("right"), whole=counts.pop("heard_of"))
    return RetrievalFigures(**counts, precision=precision)


def _within(column: str) -> Q:
    """Return the condition that a time lies within the horizon after the memory was told."""
    first = OuterRef("first_accessed")
    return Q(**{f"{column}__gt": first, f"{column}__lte": first + HORIZON})


def _versions() -> QuerySet[MemoryVersion]:
    rows = MemoryVersion.objects.filter(end_user=OuterRef("end_user"), memory=OuterRef("pk"))
    return rows.filter(_within("known_until"))


def _confirmations() -> QuerySet[MemoryVersion]:
    """Return the changes that raised the recurrence, and the approvals of people."""
    before = Cast(KeyTextTransform("recurrence", "values"), IntegerField())
    said_again = Q(operation="merged", recurrence_before__lt=OuterRef("recurrence"))
    return _versions().annotate(recurrence_before=before).filter(said_again | Q(operation__in=APPROVALS))


def _contradictions() -> QuerySet[MemoryLink]:
    side = Q(from_memory=OuterRef("pk")) | Q(to_memory=OuterRef("pk"))
    rows = MemoryLink.objects.filter(side, end_user=OuterRef("end_user"), kind=LinkKind.CONTRADICTS)
    return rows.filter(_within("created_at"))


def _was_superseded() -> Q:
    closed = Exists(_versions().filter(operation="superseded"))
    return Q(closed, status=Status.SUPERSEDED, superseded_by__isnull=False)
