"""Counts and costs of a project's pipeline per day (UTC)."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Aggregate, Count, IntegerField, Q, QuerySet, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce, TruncDate

from apps.pipeline.core.enums import TraceStatus
from apps.pipeline.core.model_calls import AnswerKind
from apps.traces.models import ModelCall, Trace

_FAILED = (TraceStatus.REJECTED, TraceStatus.EXTRACTION_FAILED, TraceStatus.DEAD)
_USELESS = (AnswerKind.EMPTY, AnswerKind.TRUNCATED, AnswerKind.UNPARSABLE, AnswerKind.REFUSED)
_SUMS = ("invalid_objects", "input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "cost_usd")


_OUTCOMES = ("turns", "candidates", "stored", "merged", "superseded", "pending_review", "discarded")
_OF_TRACES: dict[str, Aggregate | Coalesce] = {
    "traces": Count("id"),
    **{each.value: Count("id", filter=Q(status=each)) for each in _FAILED},
    **{name: Coalesce(Sum(Cast(KT(f"counts__{name}"), IntegerField())), 0) for name in _OUTCOMES},
}
_OF_CALLS: dict[str, Aggregate] = {
    "model_calls": Count("id"),
    "model_errors": Count("id", filter=~Q(error="")),
    **{f"{each}_answers": Count("id", filter=Q(answer_kind=each)) for each in _USELESS},
    **{name: Sum(name) for name in _SUMS},
}


def days_of(*, project_id: UUID, since: datetime, until: datetime) -> list[dict[str, Any]]:
    """Return the figures by day with accepted requests, oldest first; a model call counts on the day of its trace."""
    traces = Trace.objects.filter(project_id=project_id, created_at__gte=since, created_at__lt=until)
    calls = ModelCall.objects.filter(
        trace__project_id=project_id, trace__created_at__gte=since, trace__created_at__lt=until
    )
    of_calls = _by_day(calls, "trace__created_at", _OF_CALLS)
    no_calls = {**dict.fromkeys(_OF_CALLS, 0), "cost_usd": Decimal(0)}
    of_traces = _by_day(traces, "created_at", _OF_TRACES)
    return [{"day": day, **found, **of_calls.get(day, no_calls)} for day, found in sorted(of_traces.items())]


def _by_day(rows: QuerySet[Any], time: str, figures: Mapping[str, Aggregate | Coalesce]) -> dict[date, dict[str, Any]]:
    """Return the figures of each day; in the query their names end with `_`, for some are names of columns."""
    days = rows.order_by().values(day=TruncDate(time, tzinfo=UTC))
    found = days.annotate(**{f"{name}_": figure for name, figure in figures.items()})
    return {row["day"]: {name: row[f"{name}_"] for name in figures} for row in found}
