"""The endpoint GET /v1/stats: counts and costs of a project's pipeline per day (UTC)."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Aggregate, Count, IntegerField, Q, QuerySet, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce, TruncDate
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.problems import invalid
from apps.api.serializers import OPTIONAL, ApiSerializer, QuerySerializer
from apps.api.viewsets import ApiViewSet, operation
from apps.pipeline.core.enums import TraceStatus
from apps.pipeline.core.model_calls import AnswerKind
from apps.traces.models import ModelCall, Trace


class StatsQuery(QuerySerializer):
    """The first and last day (UTC, inclusive); the last thirty days by default."""

    since = serializers.DateField(**OPTIONAL)
    until = serializers.DateField(**OPTIONAL)


class DayStatsSerializer(ApiSerializer):
    """Counts of one day with accepted turns.

    Model answers that were empty, truncated, unparsable or refused are counted separately; `invalid_objects` counts
    objects within answers that were not valid memories. `cache_hit_share` is the share of prompt tokens that the
    provider read from its cache, from 0 to 1.
    """

    day = serializers.DateField()
    traces = serializers.IntegerField()
    rejected = serializers.IntegerField()
    extraction_failed = serializers.IntegerField()
    dead = serializers.IntegerField()
    turns = serializers.IntegerField()
    candidates = serializers.IntegerField()
    stored = serializers.IntegerField()
    merged = serializers.IntegerField()
    superseded = serializers.IntegerField()
    pending_review = serializers.IntegerField()
    discarded = serializers.IntegerField()
    model_calls = serializers.IntegerField()
    model_errors = serializers.IntegerField()
    empty_answers = serializers.IntegerField()
    truncated_answers = serializers.IntegerField()
    unparsable_answers = serializers.IntegerField()
    refused_answers = serializers.IntegerField()
    invalid_objects = serializers.IntegerField()
    input_tokens = serializers.IntegerField()
    cache_read_tokens = serializers.IntegerField()
    cache_write_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()
    cache_hit_share = serializers.SerializerMethodField()
    cost_usd = serializers.DecimalField(max_digits=None, decimal_places=None)

    def get_cache_hit_share(self, day: Mapping[str, Any]) -> float:
        """Return the share of prompt tokens that the provider read from its cache."""
        read = day["input_tokens"] + day["cache_read_tokens"] + day["cache_write_tokens"]
        return round(day["cache_read_tokens"] / read, 4) if read else 0.0


class StatsSerializer(ApiSerializer):
    """The funnel and its cost by day, oldest first."""

    since = serializers.DateField()
    until = serializers.DateField()
    cost_usd = serializers.DecimalField(max_digits=None, decimal_places=None)
    days = DayStatsSerializer(many=True)


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


DEFAULT_DAYS, MAX_DAYS = 30, 366


class StatsViewSet(ApiViewSet):
    """The funnel of the project and its cost."""

    @operation("read_stats", summary="Funnel and costs by day", query=StatsQuery, answers={200: StatsSerializer})
    def retrieve(self, request: Request) -> Response:
        """Read the outcomes of the project's turns and the cost of its model calls, by day."""
        until = self.query["until"] or timezone.now().astimezone(UTC).date()
        since = self.query["since"] or date.fromordinal(max(1, until.toordinal() - DEFAULT_DAYS + 1))
        if not 0 <= (until - since).days < MAX_DAYS:
            raise invalid(f"must span 1 to {MAX_DAYS} days", at="since")
        days = days_of(project_id=self.caller.project_id, since=_midnight(since), until=_midnight(until, after=1))
        cost = sum((day["cost_usd"] for day in days), Decimal(0))
        return self.answer(StatsSerializer, {"since": since, "until": until, "cost_usd": cost, "days": days})


def _midnight(day: date, *, after: int = 0) -> datetime:
    """Return the start of a day in UTC, or of the day `after` days later; the last day of the calendar has none."""
    later = day if day == date.max else day + timedelta(days=after)
    return datetime.combine(later, time.min, tzinfo=UTC)
