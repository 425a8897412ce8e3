"""Schemas of /v1/stats."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from apps.api.schemas.common import QueryParameters, ResponseBody
from apps.traces.statistics import Day


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


def stats_response(days: Sequence[Day], *, since: date, until: date) -> StatsResponse:
    """Convert the statistics of some days."""
    cost = sum((each.cost_usd for each in days), Decimal(0))
    return StatsResponse(since=since, until=until, cost_usd=cost, days=[_day(each) for each in days])


def _day(day: Day) -> DayStatsResponse:
    read = day.input_tokens + day.cache_read_tokens + day.cache_write_tokens
    named = {name: getattr(day, name) for name in DayStatsResponse.__struct_fields__ if name != "cache_hit_share"}
    return DayStatsResponse(**named, cache_hit_share=round(day.cache_read_tokens / read, 4) if read else 0.0)
