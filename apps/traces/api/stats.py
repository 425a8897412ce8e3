"""View of GET /v1/stats: counts and costs of a project's pipeline per day (UTC)."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Aggregate, Count, IntegerField, Q, QuerySet, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce, TruncDate
from django.utils import timezone
from rest_framework.request import Request

from apps.api.base import ApiView
from apps.api.operations import operation
from apps.api.problems import invalid
from apps.api.schemas import QueryParameters, ResponseBody
from apps.pipeline.core.enums import TraceStatus
from apps.pipeline.core.model_calls import AnswerKind
from apps.traces.models import ModelCall, Trace


class StatsQuery(QueryParameters):
    """The first and last day (UTC, inclusive); the last thirty days by default."""

    since: date | None = None
    until: date | None = None


class DayStatsResponse(ResponseBody):
    """Counts of one day with accepted turns.

    Model answers that were empty, truncated, unparsable or refused are counted separately; `invalid_objects` counts
    objects within answers that were not valid memories. `cache_hit_share` is the share of prompt tokens that the
    provider read from its cache, from 0 to 1.
    """

    day: date
    traces: int
    rejected: int
    extraction_failed: int
    dead: int
    turns: int
    candidates: int
    stored: int
    merged: int
    superseded: int
    pending_review: int
    discarded: int
    model_calls: int
    model_errors: int
    empty_answers: int
    truncated_answers: int
    unparsable_answers: int
    refused_answers: int
    invalid_objects: int
    input_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    output_tokens: int
    cache_hit_share: float
    cost_usd: Decimal


class StatsResponse(ResponseBody):
    """The funnel and its cost by day, oldest first."""

    since: date
    until: date
    cost_usd: Decimal
    days: list[DayStatsResponse]


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


def stats_response(days: Sequence[Mapping[str, Any]], *, since: date, until: date) -> StatsResponse:
    """Convert the figures of some days."""
    shown = []
    for day in days:
        read = day["input_tokens"] + day["cache_read_tokens"] + day["cache_write_tokens"]
        share = round(day["cache_read_tokens"] / read, 4) if read else 0.0
        shown.append(DayStatsResponse(**day, cache_hit_share=share))
    cost = sum((each.cost_usd for each in shown), Decimal(0))
    return StatsResponse(since=since, until=until, cost_usd=cost, days=shown)


DEFAULT_DAYS, MAX_DAYS = 30, 366


class StatsView(ApiView):
    """The funnel of the project and its cost."""

    @operation("read_stats", summary="Funnel and costs by day")
    def get(self, request: Request, query: StatsQuery) -> StatsResponse:
        """Read the outcomes of the project's turns and the cost of its model calls, by day."""
        until = query.until or timezone.now().astimezone(UTC).date()
        since = query.since or date.fromordinal(max(1, until.toordinal() - DEFAULT_DAYS + 1))
        if not 0 <= (until - since).days < MAX_DAYS:
            raise invalid(f"must span 1 to {MAX_DAYS} days", at="since")
        days = days_of(project_id=self.caller.project_id, since=_midnight(since), until=_midnight(until, after=1))
        return stats_response(days, since=since, until=until)


def _midnight(day: date, *, after: int = 0) -> datetime:
    """Return the start of a day in UTC, or of the day `after` days later; the last day of the calendar has none."""
    later = day if day == date.max else day + timedelta(days=after)
    return datetime.combine(later, time.min, tzinfo=UTC)
