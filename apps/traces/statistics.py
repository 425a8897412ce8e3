"""Counts and costs of a project's pipeline per day (UTC)."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from django.db import connection


@dataclass(frozen=True, slots=True)
class Day:
    """One day of one project: requests by status, candidates by outcome, and model calls."""

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
    cost_usd: Decimal


_DAYS = """
with trace as (
    select id, end_user_id, status, counts, (created_at at time zone 'utc')::date as day
    from traces_trace where project_id = %(project)s and created_at >= %(since)s and created_at < %(until)s
), funnel as (
    select day, count(*) as traces, count(*) filter (where status = 'rejected') as rejected,
           count(*) filter (where status = 'extraction_failed') as extraction_failed,
           count(*) filter (where status = 'dead') as dead,
           coalesce(sum((counts->>'turns')::int), 0) as turns,
           coalesce(sum((counts->>'candidates')::int), 0) as candidates,
           coalesce(sum((counts->>'stored')::int), 0) as stored,
           coalesce(sum((counts->>'merged')::int), 0) as merged,
           coalesce(sum((counts->>'superseded')::int), 0) as superseded,
           coalesce(sum((counts->>'pending_review')::int), 0) as pending_review,
           coalesce(sum((counts->>'discarded')::int), 0) as discarded
    from trace group by day
), model as (
    select trace.day, count(*) as calls, count(*) filter (where call.error <> '') as errors,
           count(*) filter (where call.answer_kind = 'empty') as empty,
           count(*) filter (where call.answer_kind = 'truncated') as truncated,
           count(*) filter (where call.answer_kind = 'unparsable') as unparsable,
           count(*) filter (where call.answer_kind = 'refused') as refused,
           sum(call.invalid_objects) as invalid,
           sum(call.input_tokens) as input, sum(call.cache_read_tokens) as cache_read,
           sum(call.cache_write_tokens) as cache_write, sum(call.output_tokens) as output, sum(call.cost_usd) as cost
    from trace join traces_modelcall call on call.end_user_id = trace.end_user_id and call.trace_id = trace.id
    group by trace.day
)
select funnel.*, coalesce(calls, 0), coalesce(errors, 0), coalesce(empty, 0), coalesce(truncated, 0),
       coalesce(unparsable, 0), coalesce(refused, 0), coalesce(invalid, 0), coalesce(input, 0),
       coalesce(cache_read, 0), coalesce(cache_write, 0), coalesce(output, 0), coalesce(cost, 0)
from funnel left join model using (day) order by day
"""


def days_of(*, project_id: UUID, since: datetime, until: datetime) -> list[Day]:
    """Return the days with accepted requests, oldest first; a model call counts on the day of its trace."""
    with connection.cursor() as cursor:
        cursor.execute(_DAYS, {"project": project_id, "since": since, "until": until})
        return [Day(*row) for row in cursor.fetchall()]
