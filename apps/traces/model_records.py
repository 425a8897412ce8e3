"""What the calls of a project's models have come to lately."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Max, Q, QuerySet
from django.db.models.functions import Left

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
    """Yield one record per model, with two queries for all and one for each."""
    answered, has_failed = Q(error=""), ~Q(error="")
    models = (
        calls.order_by("model")
        .values("model")
        .annotate(
            calls=Count("id"),
            failed=Count("id", filter=has_failed),
            last_answer=Max("created_at", filter=answered),
            last_failure=Max("created_at", filter=has_failed),
        )
    )
    latest = calls.filter(has_failed).order_by("model", "-created_at").distinct("model")
    errors = dict(latest.values_list("model", Left("error", MOST_ERROR)))
    for row in models:
        latencies = (
            calls.filter(answered, model=row["model"]).order_by("latency_us").values_list("latency_us", flat=True)
        )
        count = row["calls"] - row["failed"]
        yield ModelRecord(
            **row,
            last_error=errors.get(row["model"], ""),
            median_us=latencies[(count - 1) // 2 :].first() if count else None,
        )
