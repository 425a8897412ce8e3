"""Hourly totals of spans and model calls for the dashboard.

While an hour is open, each tally adds what came since the last one. Once it is over, it is counted anew from all of
its rows and closed, so nothing that was committed late is missed and no total can drift.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Min, Sum

from apps.traces.funnel_metrics import Measure
from apps.traces.models import HourlyTally, ModelCall, ModelTestCall, Span, TalliedHour

HOUR = timedelta(hours=1)
CLOSED_AFTER = timedelta(minutes=10)  # longer than any transaction that writes spans or calls
SETTLED_AFTER = timedelta(seconds=15)  # rows of open hours are counted this late: nearly all are committed by then
_LOCK = 7_204_411  # key of the advisory lock that lets one tally run at a time

_DELETE = (
    "delete from traces_hourlytally where hour = %(origin)s",
    "delete from traces_hourlylatency where hour = %(origin)s",
)
# Turns and rejections are counted from pre_filter spans, outcomes from traces that have an extract span.
_COUNTED = """
with spans as (
    select trace.project_id, date_bin(%(step)s, span.created_at, %(origin)s) as moment, span.stage, span.details,
        trace.status, trace.counts, trace.outcomes
    from traces_span span join traces_trace trace on trace.id = span.trace_id and trace.end_user_id = span.end_user_id
    where span.created_at >= %(since)s and span.created_at < %(until)s and span.stage in ('pre_filter', 'extract')
), outcomes as (
    select project_id, moment, outcome from spans, jsonb_array_elements(outcomes) as outcome where stage = 'extract'
), counted(project_id, moment, measure, stage, reason, amount) as (
    select project_id, moment, 'turns', '', '', sum((details->>'judged')::int) from spans
        where stage = 'pre_filter' group by 1, 2
    union all
    select project_id, moment, 'drops', 'pre_filter', why.key, sum(why.value::int)
        from spans, jsonb_each_text(details->'reasons') as why where stage = 'pre_filter' group by 1, 2, 5
    union all
    select project_id, moment, 'drops', outcome->>'stage', left(outcome->>'reason', 96), count(*) from outcomes
        where outcome->>'outcome' = 'discarded' and outcome->>'stage' <> 'pre_filter' group by 1, 2, 4, 5
    union all
    select project_id, moment, 'rulings', '', outcome->>'outcome', count(*) from outcomes
        where outcome->>'outcome' <> 'discarded' group by 1, 2, 5
    union all
    select project_id, moment, 'reviews', '', left(why, 96), count(*)
        from outcomes, unnest(string_to_array(outcome->>'reason', ', ')) as why
        where outcome->>'outcome' = 'pending_review' group by 1, 2, 5
    union all
    select project_id, moment, 'new_turns', '', '', count(distinct outcome->>'turn') from outcomes
        where outcome->>'outcome' in ('stored', 'pending_review') group by 1, 2
    union all
    select project_id, moment, 'superseded', '', '', sum((counts->>'superseded')::int) from spans
        where stage = 'extract' group by 1, 2
    union all
    select project_id, moment, 'redacted', '', kind.key, sum(kind.value::int)
        from spans, jsonb_each_text(coalesce(counts->'redacted', '{}')) as kind
        where stage = 'pre_filter' group by 1, 2, 5
    union all
    select project_id, moment, 'traces', '', status, count(*) from spans
        where stage = 'extract' or status = 'rejected' group by 1, 2, 5
)
"""
_CALLS = """
with calls as (
    select trace.project_id, date_bin(%(step)s, call.created_at, %(origin)s) as moment, purpose, model, answer_kind,
        call.error, invalid_objects, prompt_cut, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens,
        cost_usd
    from traces_modelcall call
    join traces_trace trace on trace.id = call.trace_id and trace.end_user_id = call.end_user_id
    where call.created_at >= %(since)s and call.created_at < %(until)s
    union all
    select project_id, date_bin(%(step)s, created_at, %(origin)s), 'test', model, '', error, 0, false, input_tokens,
        0, 0, output_tokens, cost_usd
    from traces_modeltestcall where created_at >= %(since)s and created_at < %(until)s
), counted(project_id, moment, measure, stage, reason, amount) as (
    select project_id, moment, measure, stage, reason, sum(amount) from calls, lateral (values
        ('calls', '', '', 1.0),
        ('calls_cached', '', '', (cache_read_tokens > 0)::int),
        ('calls_failed', '', '', (error <> '')::int),
        ('answers', purpose, answer_kind, (answer_kind <> '')::int),
        ('invalid_objects', '', '', invalid_objects),
        ('cut_prompts', '', left(model, 96), prompt_cut::int),
        ('tokens', '', 'input', input_tokens),
        ('tokens', '', 'cache_read', cache_read_tokens),
        ('tokens', '', 'cache_write', cache_write_tokens),
        ('tokens', '', 'output', output_tokens),
        ('cost', '', '', cost_usd)
    ) as part(measure, stage, reason, amount) group by 1, 2, 3, 4, 5
)
"""
_LATENCIES = """
with counted(project_id, stage, bucket, spans) as (
    select trace.project_id, span.stage,
           floor(8 * log(2, greatest(span.latency_us, 1)::numeric))::int, count(*)
    from traces_span span
    join traces_trace trace on trace.id = span.trace_id and trace.end_user_id = span.end_user_id
    where span.created_at >= %(since)s and span.created_at < %(until)s
    group by 1, 2, 3
)
"""
_STORE_AMOUNTS = """
insert into traces_hourlytally (id, project_id, hour, measure, stage, reason, amount)
select gen_random_uuid(), project_id, moment, measure, stage, reason, amount from counted where amount > 0
on conflict (project_id, hour, measure, stage, reason) do update
set amount = traces_hourlytally.amount + excluded.amount
"""
_STORE_LATENCIES = """
insert into traces_hourlylatency (id, project_id, hour, stage, bucket, spans)
select gen_random_uuid(), project_id, %(origin)s, stage, bucket, spans from counted
on conflict (project_id, hour, stage, bucket) do update set spans = traces_hourlylatency.spans + excluded.spans
"""
_READ_AMOUNTS = """
select moment, measure, stage, reason, amount::float8 from counted where amount > 0 and project_id = %(project)s
"""
_READ_LATENCIES = """
select stage, bucket, spans from counted where project_id = %(project)s
"""
_MARK_TALLIED = """
insert into traces_talliedhour (hour, tallied_at, counted_until) values (%(origin)s, %(now)s, %(until)s)
on conflict (hour) do update set tallied_at = excluded.tallied_at, counted_until = excluded.counted_until
"""
_ADD = (_COUNTED + _STORE_AMOUNTS, _CALLS + _STORE_AMOUNTS, _LATENCIES + _STORE_LATENCIES, _MARK_TALLIED)


def tally_hour(hour: datetime, *, now: datetime, settled_after: timedelta = SETTLED_AFTER) -> None:
    """Bring the totals of the hour that begins at `hour` up to date, for all projects, in one transaction."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(%s)", [_LOCK])
        counted_until = None if now >= hour + HOUR + CLOSED_AFTER else _counted_until(hour)
        values: dict[str, Any] = {
            "origin": hour,
            "since": counted_until or hour,
            "until": max(counted_until or hour, min(hour + HOUR, now - settled_after)),
            "step": HOUR,
            "now": now,
        }
        for statement in _ADD if counted_until else (*_DELETE, *_ADD):
            cursor.execute(statement, values)


def _counted_until(hour: datetime) -> datetime | None:
    return TalliedHour.objects.filter(hour=hour).values_list("counted_until", flat=True).first()


Amount = tuple[datetime, str, str, str, float]  # start of the step, measure, stage, reason, amount


def count_now(*, project_id: UUID, since: datetime, until: datetime, step: timedelta) -> list[Amount]:
    """Count the measures of a project by steps from `since` on, from the rows themselves (two queries)."""
    values = {"project": project_id, "origin": since, "since": since, "until": until, "step": step}
    return [row for counted in (_COUNTED, _CALLS) for row in _rows(counted + _READ_AMOUNTS, values)]


def latencies_now(*, project_id: UUID, since: datetime, until: datetime) -> list[tuple[str, int, int]]:
    """Return (stage, bucket, number of spans) of a project in a period, from the spans themselves (one query)."""
    return _rows(_LATENCIES + _READ_LATENCIES, {"project": project_id, "since": since, "until": until})


def _rows(statement: str, values: dict[str, Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def sums_since(hour: datetime, *, measures: Iterable[Measure]) -> Iterator[tuple[UUID, Measure, str, float]]:
    """Yield (project, measure, reason, sum) over all hours from `hour` on."""
    rows = HourlyTally.objects.filter(hour__gte=hour, measure__in=list(measures)).order_by("project", "measure")
    summed = rows.values_list("project", "measure", "reason").annotate(total=Sum("amount"))
    return ((project_id, Measure(measure), reason, total) for project_id, measure, reason, total in summed)


def hours_to_tally(*, now: datetime, most: int) -> list[datetime]:
    """Return up to `most` hours whose totals may be out of date, oldest first.

    An hour is closed, and not tallied again, once it was tallied later than CLOSED_AFTER after its end.
    """
    last = TalliedHour.objects.order_by("-hour").values_list("hour", "tallied_at")[:3]
    closed = [hour for hour, tallied_at in last if tallied_at >= hour + HOUR + CLOSED_AFTER]
    first = max(closed) + HOUR if closed else min((hour for hour, _ in last), default=_first_hour())
    if first is None:
        return []
    hours: list[datetime] = []
    while first <= now and len(hours) < most:
        hours.append(first)
        first += HOUR
    return hours


def _first_hour() -> datetime | None:
    """Return the hour of the first span or model call; None if there is none."""
    earliest = [model.objects.aggregate(first=Min("created_at"))["first"] for model in (Span, ModelCall, ModelTestCall)]
    moments = [moment for moment in earliest if moment is not None]
    return hour_of(min(moments)) if moments else None


def hour_of(moment: datetime) -> datetime:
    """Round a time down to the hour, in UTC."""
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
