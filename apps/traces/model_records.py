"""What the calls of a project's models have come to lately."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Max, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Left

from apps.traces.models import ModelCall, ModelTestCall

MOST_ERROR = 1_000  # characters


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """The calls of a model since some time: how many, how many of them failed, and the last of either."""

    model: str  # as its client or a policy calls it; empty: the configured one
    calls: int
    failed: int
    last_answer: datetime | None
    last_failure: datetime | None
    last_error: str
    median_us: int | None  # of the calls that were answered


def model_records(*, project_id: UUID, since: datetime) -> list[ModelRecord]:
    """Return the records of the models that were called for traces, and then of those that people have tested."""
    calls = ModelCall.objects.filter(end_user__project_id=project_id, created_at__gte=since)
    tests = ModelTestCall.objects.filter(project_id=project_id, created_at__gte=since)
    return [*_records(calls), *_records(tests)]


def _records(calls: QuerySet[ModelCall] | QuerySet[ModelTestCall]) -> Iterator[ModelRecord]:
    """Yield one record per model, with one query for all and one for each that has answered."""
    answered, has_failed = Q(error=""), ~Q(error="")
    errors = calls.filter(has_failed, model=OuterRef("model")).order_by("-created_at")
    models = (
        calls.order_by("model")
        .values("model")
        .annotate(
            calls=Count("id"),
            failed=Count("id", filter=has_failed),
            last_answer=Max("created_at", filter=answered),
            last_failure=Max("created_at", filter=has_failed),
            last_error=Coalesce(Subquery(errors.values(start=Left("error", MOST_ERROR))[:1]), Value("")),
        )
    )
    for row in models:
        answers = calls.filter(answered, model=row["model"]).order_by("latency_us")
        count = row["calls"] - row["failed"]
        middle = answers.values_list("latency_us", flat=True)[(count - 1) // 2 :].first() if count else None
        yield ModelRecord(**row, median_us=middle)
