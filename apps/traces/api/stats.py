"""View of GET /v1/stats."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.base import ApiView, to_json
from apps.api.openapi import documented
from apps.api.problems import invalid
from apps.api.schemas import QueryParameters, ResponseBody
from apps.api.validation import read_query
from apps.traces.statistics import days_of


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

    @documented(
        operation="read_stats", summary="Funnel and costs by day", query=StatsQuery, responses={200: StatsResponse}
    )
    def get(self, request: Request) -> Response:
        """Read the outcomes of the project's turns and the cost of its model calls, by day."""
        query = read_query(request, StatsQuery)
        until = query.until or timezone.now().astimezone(UTC).date()
        since = query.since or date.fromordinal(max(1, until.toordinal() - DEFAULT_DAYS + 1))
        if not 0 <= (until - since).days < MAX_DAYS:
            raise invalid(f"must span 1 to {MAX_DAYS} days", at="since")
        days = days_of(project_id=self.caller.project_id, since=_midnight(since), until=_midnight(until, after=1))
        return Response(to_json(stats_response(days, since=since, until=until)))


def _midnight(day: date, *, after: int = 0) -> datetime:
    """Return the start of a day in UTC, or of the day `after` days later; the last day of the calendar has none."""
    later = day if day == date.max else day + timedelta(days=after)
    return datetime.combine(later, time.min, tzinfo=UTC)
