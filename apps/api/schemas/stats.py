"""Shapes of /v1/stats."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from apps.api.schemas.common import Answer, Query
from apps.traces.statistics import Day


class StatsQuery(Query):
    """Which days, both included (UTC); the last thirty by default."""

    since: date | None = None
    until: date | None = None


class DayAnswer(Answer):
    """One day on which something was accepted.

    Answers that were empty, cut off, no JSON or refused are counted apart, and objects within answers that were no
    memories. `cache_hit_share` is the share of prompt tokens that the provider read from its cache, from 0 to 1.
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


class StatsAnswer(Answer):
    """The funnel and what it cost, day by day, the oldest first."""

    since: date
    until: date
    cost_usd: Decimal
    days: list[DayAnswer]


def stats_answer(days: Sequence[Day], *, since: date, until: date) -> StatsAnswer:
    """Return the answer for some days."""
    cost = sum((each.cost_usd for each in days), Decimal(0))
    return StatsAnswer(since=since, until=until, cost_usd=cost, days=[_day(each) for each in days])


def _day(day: Day) -> DayAnswer:
    read = day.input_tokens + day.cache_read_tokens + day.cache_write_tokens
    named = {name: getattr(day, name) for name in DayAnswer.__struct_fields__ if name != "cache_hit_share"}
    return DayAnswer(**named, cache_hit_share=round(day.cache_read_tokens / read, 4) if read else 0.0)
