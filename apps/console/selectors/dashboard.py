"""The dashboard, read from the hourly tallies; only the queue is read live."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Max, QuerySet, Sum
from django.db.models.functions import Trunc
from django.utils import timezone

from apps.console.labels import count_of, label, noun_for, percent
from apps.console.selectors.periods import DashboardPeriod
from apps.outbox import heartbeats
from apps.outbox.models import OutboxRow
from apps.outbox.querysets import OutboxRowQuerySet
from apps.pipeline.core.enums import Outcome, Reason, Stage
from apps.pipeline.core.funnel_metrics import (
    BANDS,
    Band,
    Measure,
    Ratio,
    RatioHealth,
    RatioReading,
    Tallies,
    past_pre_filter,
    quantile,
    ratio_readings,
    users_turns,
)
from apps.traces.models import HourlyLatency, HourlyTally, TalliedHour

LATE_AFTER_SECONDS = 60  # as in /readyz
ALIVE_WITHIN = timedelta(seconds=30)
_ENDS = (Outcome.STORED, Outcome.MERGED, Outcome.PENDING_REVIEW)
_PLOTTED_REASONS = 7  # the table lists all

Key = tuple[Measure, str, str]


_RATIO_LABELS = {
    Ratio.NO_CANDIDATE: "turns where nothing was found",
    Ratio.EMPTY_CALLS: "model calls that found nothing",
    Ratio.LOW_QUALITY: "candidates not worth remembering",
    Ratio.WEAKER: "candidates with weaker evidence",
    Ratio.FAILED_CALLS: "failed model calls",
    Ratio.CACHED_CALLS: "model calls served from the prompt cache",
}


@dataclass(frozen=True, slots=True)
class Gauge:
    """A ratio with its healthy band and its values over time."""

    reading: RatioReading
    band: Band
    values: list[float | None]

    @property
    def label(self) -> str:
        """Return the name of the ratio."""
        return _RATIO_LABELS.get(self.reading.share, self.reading.share.value)

    @property
    def part_of_whole(self) -> str:
        """Return the numerator and denominator as text."""
        return f"{self.reading.part:,.0f} of {self.reading.whole:,.0f}"


@dataclass(frozen=True, slots=True)
class DropLine:
    """How often a stage dropped something for a reason."""

    stage: str
    reason: str
    count: int
    share: float  # of all turns in the pre-filter, else of everything that the stage dropped


@dataclass(frozen=True, slots=True)
class StageLatency:
    """Latency percentiles of a stage, in microseconds."""

    stage: str
    spans: int
    p50: int | None
    p99: int | None


@dataclass(frozen=True, slots=True)
class QueueState:
    """The current state of the queue."""

    pending: int
    oldest_seconds: int
    failed: int
    workers: int

    @property
    def is_late(self) -> bool:
        """Return True if the oldest pending work has waited too long."""
        return self.oldest_seconds > LATE_AFTER_SECONDS


@dataclass(frozen=True, slots=True)
class Dashboard:
    """Everything on the dashboard."""

    period: DashboardPeriod
    totals: Tallies
    gauges: list[Gauge]
    drops: list[DropLine]
    reasons: dict[str, list[float | None]]
    costs: list[float]
    speeds: list[StageLatency]
    queue: QueueState
    tallied_at: datetime | None

    @property
    def alerts(self) -> list[str]:
        """Return messages about what needs attention, most severe first."""
        return list(_alerts(self))


def dashboard(*, project_id: UUID, period: DashboardPeriod) -> Dashboard:
    """Read the dashboard of a project with five queries, whatever the amount of data."""
    steps = _tallies(project_id, period)
    totals = _total(steps.values())
    return Dashboard(
        period=period,
        totals=totals,
        gauges=_gauges(totals, [steps[moment] for moment in period.steps]),
        drops=list(_drop_lines(totals)),
        reasons=_reasons(totals, [steps[moment] for moment in period.steps]),
        costs=[steps[moment].of(Measure.COST) for moment in period.steps],
        speeds=_speeds(project_id, period),
        queue=queue_state(project_id=project_id),
        tallied_at=TalliedHour.objects.aggregate(last=Max("tallied_at"))["last"],
    )


def queue_state(*, project_id: UUID) -> QueueState:
    """Read the pending and failed work of a project from partial indexes."""
    rows = OutboxRowQuerySet(OutboxRow).filter(project_id=project_id)
    backlog = rows.backlog()
    oldest = (timezone.now() - backlog.oldest).total_seconds() if backlog.oldest else 0
    return QueueState(
        pending=sum(rows.open_by_kind().values()),
        oldest_seconds=max(0, int(oldest)),
        failed=backlog.dead,
        workers=heartbeats.alive(within=ALIVE_WITHIN),
    )


def _tallies(project_id: UUID, period: DashboardPeriod) -> defaultdict[datetime, Tallies]:
    rows = _within(HourlyTally.objects.all(), project_id, period)
    summed = rows.values_list("step", "measure", "stage", "reason").annotate(amount=Sum("amount"))
    found: defaultdict[datetime, dict[Key, float]] = defaultdict(dict)
    for step, measure, stage, reason, amount in summed:
        found[step][Measure(measure), stage, reason] = amount
    return defaultdict(lambda: Tallies({}), {step: Tallies(sums) for step, sums in found.items()})


def _within(rows: QuerySet[Any], project_id: UUID, period: DashboardPeriod) -> QuerySet[Any]:
    kept = rows.filter(project_id=project_id, hour__gte=period.start, hour__lte=period.end)
    return kept.order_by().annotate(step=Trunc("hour", period.step.value))


def _total(steps: Any) -> Tallies:
    sums: defaultdict[Key, float] = defaultdict(float)
    for tallies in steps:
        for key, amount in tallies.sums.items():
            sums[key] += amount
    return Tallies(dict(sums))


def _gauges(totals: Tallies, steps: list[Tallies]) -> list[Gauge]:
    values: dict[Ratio, list[float | None]] = {share: [] for share in Ratio}
    for tallies in steps:
        for reading in ratio_readings(tallies):
            values[reading.share].append(reading.value)
    return [Gauge(reading, BANDS[reading.share], values[reading.share]) for reading in ratio_readings(totals)]


def _drop_lines(totals: Tallies) -> Iterator[DropLine]:
    """Yield the drops by stage, most frequent reason first."""
    order = list(Stage)
    drops = [(stage, why, count) for (measure, stage, why), count in totals.sums.items() if measure is Measure.DROPS]
    for stage, why, count in sorted(drops, key=lambda drop: (order.index(Stage(drop[0])), -drop[2], drop[1])):
        whole = totals.of(Measure.TURNS) if stage == Stage.PRE_FILTER else totals.of(Measure.DROPS, stage=stage)
        yield DropLine(stage, why, int(count), count / whole if whole else 0.0)


def _reasons(totals: Tallies, steps: list[Tallies]) -> dict[str, list[float | None]]:
    """Return, for each frequent reason, the share of users' turns rejected per step."""
    drops = {
        (stage, why): count
        for (measure, stage, why), count in totals.sums.items()
        if measure is Measure.DROPS and stage == Stage.PRE_FILTER and why != Reason.UNTRUSTED_ROLE
    }
    shown = sorted(drops, key=lambda key: (-drops[key], key))[:_PLOTTED_REASONS]
    return {why: [_share_of_turns(each, stage, why) for each in steps] for stage, why in shown}


def _share_of_turns(tallies: Tallies, stage: str, why: str) -> float | None:
    turns = users_turns(tallies)
    return tallies.sums.get((Measure.DROPS, stage, why), 0.0) / turns if turns else None


def _speeds(project_id: UUID, period: DashboardPeriod) -> list[StageLatency]:
    rows = HourlyLatency.objects.filter(project_id=project_id, hour__gte=period.start, hour__lte=period.end)
    buckets: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for stage, bucket, spans in rows.order_by().values_list("stage", "bucket").annotate(total=Sum("spans")):
        buckets[stage][bucket] = spans
    return [
        StageLatency(stage.value, sum(found.values()), quantile(found, 0.5), quantile(found, 0.99))
        for stage in Stage
        if (found := buckets.get(stage.value, {}))
    ]


def _alerts(shown: Dashboard) -> Iterator[str]:
    if not shown.queue.workers:
        yield "No worker is running (last heartbeat over 30 s ago): accepted turns are waiting."
    if shown.queue.failed:
        yield f"{count_of(shown.queue.failed, 'queue entry', 'queue entries')} failed; see Queue."
    if shown.queue.is_late:
        yield f"The oldest pending work has been waiting for {count_of(shown.queue.oldest_seconds, 'second')}."
    for gauge in shown.gauges:
        if gauge.reading.health is RatioHealth.ALERT:
            yield (f"{gauge.label.capitalize()}: {percent(gauge.reading.value)}, healthy is {band_text(gauge.band)}.")


def band_text(band: Band) -> str:
    """Return the range of a healthy band as text."""
    if band.low <= 0:
        return f"at most {percent(band.high)}"
    return f"at least {percent(band.low)}" if band.high >= 1 else f"{percent(band.low)} to {percent(band.high)}"


def funnel_steps(totals: Tallies) -> list[tuple[str, int, str]]:
    """Return (label, count, note) of each step of the funnel."""
    turns, past = int(totals.of(Measure.TURNS)), past_pre_filter(totals)
    with_candidate = past - totals.of(Measure.DROPS, reasons=frozenset({Reason.NO_CANDIDATE}))
    ended = {outcome: int(totals.of(Measure.RULINGS, reasons=frozenset({outcome}))) for outcome in _ENDS}
    note = ", ".join(f"{count} {label(outcome)}" for outcome, count in ended.items() if count)
    return [
        (noun_for(turns, "turn"), turns, ""),
        ("said by users", int(users_turns(totals)), ""),
        ("passed the pre-filter", int(past), ""),
        ("with a candidate", int(with_candidate), ""),
        ("with a new memory", int(totals.of(Measure.NEW_TURNS)), f"memories: {note}" if note else ""),
    ]
