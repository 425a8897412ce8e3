"""Hourly totals of spans and model calls for the dashboard.

While an hour is open, each tally adds what came since the last one. Once it is over, it is counted anew from all of
its rows and closed, so nothing that was committed late is missed and no total can drift.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import Count, DecimalField, IntegerField, Min, Model, QuerySet, Sum
from django.db.models.functions import Cast, Floor, Greatest, Log
from django.utils import timezone

from apps.pipeline.core.enums import Outcome, Stage, TraceStatus
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.funnel_metrics import Measure
from apps.traces.models import HourlyLatency, HourlyTally, ModelCall, ModelTestCall, Span, TalliedHour

HOUR = timedelta(hours=1)
CLOSED_AFTER = timedelta(minutes=10)  # longer than any transaction that writes spans or calls
SETTLED_AFTER = timedelta(seconds=15)  # rows of open hours are counted this late: nearly all are committed by then
MOST_REASON = 96  # characters
_PLACE = ("trace__project_id", "created_at")
_CALL_COLUMNS = (
    *("trace__project_id", "created_at", "purpose", "model", "answer_kind", "error", "invalid_objects", "prompt_cut"),
    *("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "cost_usd"),
)


class Amount(NamedTuple):
    """The sum of a measure in one step of a period."""

    moment: datetime  # start of the step
    measure: str
    stage: str
    reason: str
    amount: float


class _Key(NamedTuple):
    project_id: UUID
    moment: datetime
    measure: Measure
    stage: str = ""
    reason: str = ""


Sums = dict[_Key, float]


class _Period(NamedTuple):
    """The rows that were written from `since` until `until`, of one project or of all, in steps from `origin` on."""

    origin: datetime
    since: datetime
    until: datetime
    step: timedelta
    project_id: UUID | None = None

    def step_of(self, moment: datetime) -> datetime:
        """Return the start of the step that a time belongs to."""
        return self.origin + (moment - self.origin) // self.step * self.step


def tally_hour(hour: datetime, *, now: datetime, settled_after: timedelta = SETTLED_AFTER) -> None:
    """Bring the totals of the hour that begins at `hour` up to date, for all projects, in one transaction."""
    with transaction.atomic():
        TalliedHour.objects.bulk_create([TalliedHour(hour=hour, tallied_at=now)], ignore_conflicts=True)
        tallied = TalliedHour.objects.select_for_update().get(hour=hour)  # one tally of an hour runs at a time
        since = tallied.counted_until
        if since is None or now >= hour + HOUR + CLOSED_AFTER:
            HourlyTally.objects.filter(hour=hour).delete()
            HourlyLatency.objects.filter(hour=hour).delete()
            since = hour
        until = max(since, min(hour + HOUR, now - settled_after))
        period = _Period(origin=hour, since=since, until=until, step=HOUR)
        amounts = {
            (key.project_id, key.measure, key.stage, key.reason): amount for key, amount in _amounts(period).items()
        }
        _add(HourlyTally, hour, amounts, keys=("project_id", "measure", "stage", "reason"), total="amount")
        spans = {(project_id, stage, bucket): count for project_id, stage, bucket, count in _latencies(period)}
        _add(HourlyLatency, hour, spans, keys=("project_id", "stage", "bucket"), total="spans")
        tallied.tallied_at, tallied.counted_until = now, until
        tallied.save(update_fields=["tallied_at", "counted_until"])


def count_now(*, project_id: UUID, since: datetime, until: datetime, step: timedelta) -> list[Amount]:
    """Count the measures of a project by steps from `since` on, from the rows themselves (four queries)."""
    amounts = _amounts(_Period(origin=since, since=since, until=until, step=step, project_id=project_id))
    return [Amount(key.moment, key.measure, key.stage, key.reason, amount) for key, amount in amounts.items()]


def latencies_now(*, project_id: UUID, since: datetime, until: datetime) -> list[tuple[str, int, int]]:
    """Return (stage, bucket, number of spans) of a project in a period, from the spans themselves (one query)."""
    period = _Period(origin=since, since=since, until=until, step=HOUR, project_id=project_id)
    return [(stage, bucket, spans) for _, stage, bucket, spans in _latencies(period)]


def _add(
    model: type[Model],
    hour: datetime,
    counted: Mapping[tuple[Any, ...], float],
    *,
    keys: tuple[str, ...],
    total: str,
) -> None:
    """Add what was counted to the totals of an hour."""
    stored: QuerySet[Any, Any] = model._default_manager.filter(hour=hour)
    known = {tuple(key): amount for *key, amount in stored.values_list(*keys, total)}
    model._default_manager.bulk_create(
        [
            model(hour=hour, **dict(zip(keys, key, strict=True)), **{total: amount + known.get(key, 0)})
            for key, amount in counted.items()
        ],
        update_conflicts=True,
        unique_fields=["hour", *keys],
        update_fields=[total],
    )


def _latencies(period: _Period) -> Iterable[tuple[UUID, str, int, int]]:
    """Return (project, stage, bucket, number of spans) of a period."""
    microseconds = Cast(Greatest("latency_us", 1), DecimalField(max_digits=20, decimal_places=0))
    bucket = Cast(Floor(8 * Log(2, microseconds)), IntegerField())
    spans = _of_period(Span.objects.all(), period).order_by()
    groups = spans.annotate(bucket=bucket).values_list("trace__project_id", "stage", "bucket")
    return groups.annotate(spans=Count("id"))


def _amounts(period: _Period) -> dict[_Key, float]:
    """Return the sums of a period that are not zero."""
    counted: Sums = defaultdict(float)
    _count_turns(counted, period)
    _count_outcomes(counted, period)
    _count_calls(counted, period)
    return {key: amount for key, amount in counted.items() if amount > 0}


def _count_turns(counted: Sums, period: _Period) -> None:
    """Count turns and rejections, from the spans of pre_filter."""
    spans = _of_period(Span.objects.filter(stage=Stage.PRE_FILTER), period).order_by()
    columns = ("details__judged", "details__reasons", "trace__counts__redacted", "trace__status")
    for project_id, created_at, judged, reasons, redacted, status in spans.values_list(*_PLACE, *columns).iterator():
        key = _Key(project_id, period.step_of(created_at), Measure.TURNS)
        counted[key] += judged or 0
        for reason, number in (reasons or {}).items():
            counted[key._replace(measure=Measure.DROPS, stage=Stage.PRE_FILTER, reason=reason)] += number
        for kind, number in (redacted or {}).items():
            counted[key._replace(measure=Measure.REDACTED, reason=kind)] += number
        if status == TraceStatus.REJECTED:
            counted[key._replace(measure=Measure.TRACES, reason=status)] += 1


def _count_outcomes(counted: Sums, period: _Period) -> None:
    """Count what came of candidates, from traces that have a span of extract."""
    spans = _of_period(Span.objects.filter(stage=Stage.EXTRACT), period).order_by()
    columns = ("trace__outcomes", "trace__counts__superseded", "trace__status")
    new_turns: set[tuple[_Key, str]] = set()
    for project_id, created_at, outcomes, superseded, status in spans.values_list(*_PLACE, *columns).iterator():
        key = _Key(project_id, period.step_of(created_at), Measure.TRACES, reason=status)
        counted[key] += 1
        counted[key._replace(measure=Measure.SUPERSEDED, reason="")] += superseded or 0
        for each in outcomes:
            outcome, stage, reason = each["outcome"], each.get("stage", ""), each.get("reason") or ""
            if outcome != Outcome.DISCARDED:
                counted[key._replace(measure=Measure.RULINGS, reason=outcome)] += 1
            elif stage != Stage.PRE_FILTER:
                counted[key._replace(measure=Measure.DROPS, stage=stage, reason=reason[:MOST_REASON])] += 1
            if outcome in (Outcome.STORED, Outcome.PENDING_REVIEW):
                new_turn = (key._replace(measure=Measure.NEW_TURNS, reason=""), each.get("turn", ""))
                counted[new_turn[0]] += new_turn not in new_turns  # several memories of a turn count once
                new_turns.add(new_turn)
            if outcome == Outcome.PENDING_REVIEW and reason:
                for why in reason.split(", "):
                    counted[key._replace(measure=Measure.REVIEWS, reason=why[:MOST_REASON])] += 1


def _count_calls(counted: Sums, period: _Period) -> None:
    """Count the model calls of traces, and the test calls that people make."""
    calls = _of_period(ModelCall.objects.select_related("trace"), period).order_by()
    for call in calls.only(*_CALL_COLUMNS).iterator():
        key = _Key(call.trace.project_id, period.step_of(call.created_at), Measure.CALLS)
        _count_call(counted, key, call)
        counted[key._replace(measure=Measure.CALLS_CACHED)] += call.cache_read_tokens > 0
        counted[key._replace(measure=Measure.TOKENS, reason="cache_read")] += call.cache_read_tokens
        counted[key._replace(measure=Measure.TOKENS, reason="cache_write")] += call.cache_write_tokens
        counted[key._replace(measure=Measure.INVALID_OBJECTS)] += call.invalid_objects
        counted[key._replace(measure=Measure.CUT_PROMPTS, reason=call.model[:MOST_REASON])] += call.prompt_cut
        if call.answer_kind:
            counted[key._replace(measure=Measure.ANSWERS, stage=call.purpose, reason=call.answer_kind)] += 1
    tests = ModelTestCall.objects.filter(created_at__gte=period.since, created_at__lt=period.until)
    if period.project_id:
        tests = tests.filter(project_id=period.project_id)
    for test in tests.order_by().iterator():
        _count_call(counted, _Key(test.project_id, period.step_of(test.created_at), Measure.CALLS), test)


def _count_call(counted: Sums, key: _Key, call: ModelCall | ModelTestCall) -> None:
    counted[key] += 1
    counted[key._replace(measure=Measure.CALLS_FAILED)] += call.error != ""
    counted[key._replace(measure=Measure.TOKENS, reason="input")] += call.input_tokens
    counted[key._replace(measure=Measure.TOKENS, reason="output")] += call.output_tokens
    counted[key._replace(measure=Measure.COST)] += float(call.cost_usd)


_WrittenByTraces = TypeVar("_WrittenByTraces", Span, ModelCall)


def _of_period(rows: QuerySet[_WrittenByTraces], period: _Period) -> QuerySet[_WrittenByTraces]:
    found = rows.filter(created_at__gte=period.since, created_at__lt=period.until)
    return found.filter(trace__project_id=period.project_id) if period.project_id else found


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
    if closed:
        first = max(closed) + HOUR
    elif last:
        first = min(hour for hour, _ in last)
    else:
        sources = (Span, ModelCall, ModelTestCall)
        earliest = [model.objects.aggregate(first=Min("created_at"))["first"] for model in sources]
        moments = [moment for moment in earliest if moment is not None]
        if not moments:
            return []
        first = hour_of(min(moments))
    behind = (now - first) // HOUR + 1
    return [first + HOUR * number for number in range(min(behind, most))]


def hour_of(moment: datetime) -> datetime:
    """Round a time down to the hour, in UTC."""
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


MOST_HOURS = 100  # per run, so that catching up after a long pause takes seconds of a worker


def tally(*, most: timedelta = HOUR, settled_after: timedelta = SETTLED_AFTER) -> int:
    """Bring the totals of the current hour and of earlier ones that are not closed up to date; return how many hours.

    Where nobody else writes, `settled_after` may be zero. Each hour is committed by itself; what is left when the time
    is up is left for the next run.
    """
    until, done, now = monotonic() + most.total_seconds(), 0, timezone.now()
    with system_scope(SystemWork.SCHEDULE):
        for hour in hours_to_tally(now=now, most=MOST_HOURS):
            tally_hour(hour, now=now, settled_after=settled_after)
            done += 1
            if monotonic() >= until:
                break
    return done
