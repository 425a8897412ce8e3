"""What the dashboard shows, read from the hourly tallies alone; the state of the queue is read as it is now."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Max, QuerySet, Sum
from django.db.models.functions import Trunc
from django.utils import timezone

from apps.console.selectors.periods import Period
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

LATE_AFTER_SECONDS = 60  # as /readyz has it
ALIVE_WITHIN = timedelta(seconds=30)
_ENDS = (Outcome.STORED, Outcome.MERGED, Outcome.PENDING_REVIEW)
_SHOWN_REASONS = 7  # lines of the plot; the table has all

Key = tuple[Measure, str, str]


@dataclass(frozen=True, slots=True)
class Gauge:
    """One share with its band, and its course."""

    reading: RatioReading
    band: Band
    course: list[float | None]

    @property
    def part_in_words(self) -> str:
        """Say what it is a share of."""
        return f"{self.reading.part:,.0f} of {self.reading.whole:,.0f}"


@dataclass(frozen=True, slots=True)
class DropLine:
    """How often one stage dropped something for one reason."""

    stage: str
    reason: str
    count: int
    share: float  # of all that the stage dropped or, in pre_filter, of all turns


@dataclass(frozen=True, slots=True)
class Speed:
    """How long a stage takes, in microseconds."""

    stage: str
    spans: int
    p50: int | None
    p99: int | None


@dataclass(frozen=True, slots=True)
class Queue:
    """What is owed now."""

    owed: int
    oldest_seconds: int
    dead: int
    workers: int

    @property
    def is_late(self) -> bool:
        """Tell whether the oldest work has waited too long."""
        return self.oldest_seconds > LATE_AFTER_SECONDS


@dataclass(frozen=True, slots=True)
class Dashboard:
    """Everything on the page."""

    period: Period
    totals: Tallies
    gauges: list[Gauge]
    drops: list[DropLine]
    reasons: dict[str, list[float | None]]
    costs: list[float]
    speeds: list[Speed]
    queue: Queue
    tallied_at: datetime | None

    @property
    def alerts(self) -> list[str]:
        """Say what needs a person, the worst first."""
        return list(_alerts(self))


def dashboard(*, project_id: UUID, period: Period) -> Dashboard:
    """Read a project's period; five statements, however much has happened."""
    steps = _tallies(project_id, period)
    totals = _together(steps.values())
    return Dashboard(
        period=period,
        totals=totals,
        gauges=_gauges(totals, [steps[moment] for moment in period.steps]),
        drops=list(_drop_lines(totals)),
        reasons=_reasons(totals, [steps[moment] for moment in period.steps]),
        costs=[steps[moment].of(Measure.COST) for moment in period.steps],
        speeds=_speeds(project_id, period),
        queue=queue_now(project_id=project_id),
        tallied_at=TalliedHour.objects.aggregate(last=Max("tallied_at"))["last"],
    )


def queue_now(*, project_id: UUID) -> Queue:
    """Read what a project is owed, each part from an index of what is open or dead."""
    rows = OutboxRowQuerySet(OutboxRow).filter(project_id=project_id)
    backlog = rows.backlog()
    oldest = (timezone.now() - backlog.oldest).total_seconds() if backlog.oldest else 0
    return Queue(
        owed=sum(rows.open_by_kind().values()),
        oldest_seconds=max(0, int(oldest)),
        dead=backlog.dead,
        workers=heartbeats.alive(within=ALIVE_WITHIN),
    )


def _tallies(project_id: UUID, period: Period) -> defaultdict[datetime, Tallies]:
    rows = _within(HourlyTally.objects.all(), project_id, period)
    summed = rows.values_list("step", "measure", "stage", "reason").annotate(amount=Sum("amount"))
    found: defaultdict[datetime, dict[Key, float]] = defaultdict(dict)
    for step, measure, stage, reason, amount in summed:
        found[step][Measure(measure), stage, reason] = amount
    return defaultdict(lambda: Tallies({}), {step: Tallies(sums) for step, sums in found.items()})


def _within(rows: QuerySet[Any], project_id: UUID, period: Period) -> QuerySet[Any]:
    kept = rows.filter(project_id=project_id, hour__gte=period.start, hour__lte=period.end)
    return kept.order_by().annotate(step=Trunc("hour", period.step.value))


def _together(steps: Any) -> Tallies:
    sums: defaultdict[Key, float] = defaultdict(float)
    for tallies in steps:
        for key, amount in tallies.sums.items():
            sums[key] += amount
    return Tallies(dict(sums))


def _gauges(totals: Tallies, steps: list[Tallies]) -> list[Gauge]:
    courses: dict[Ratio, list[float | None]] = {share: [] for share in Ratio}
    for tallies in steps:
        for reading in ratio_readings(tallies):
            courses[reading.share].append(reading.value)
    return [Gauge(reading, BANDS[reading.share], courses[reading.share]) for reading in ratio_readings(totals)]


def _drop_lines(totals: Tallies) -> Iterator[DropLine]:
    """Yield the drops stage by stage, the most frequent reason first."""
    order = list(Stage)
    drops = [(stage, why, count) for (measure, stage, why), count in totals.sums.items() if measure is Measure.DROPS]
    for stage, why, count in sorted(drops, key=lambda drop: (order.index(Stage(drop[0])), -drop[2], drop[1])):
        whole = totals.of(Measure.TURNS) if stage == Stage.PRE_FILTER else totals.of(Measure.DROPS, stage=stage)
        yield DropLine(stage, why, int(count), count / whole if whole else 0.0)


def _reasons(totals: Tallies, steps: list[Tallies]) -> dict[str, list[float | None]]:
    """Return the course of the share of users' turns that each frequent reason rejects."""
    drops = {
        (stage, why): count
        for (measure, stage, why), count in totals.sums.items()
        if measure is Measure.DROPS and stage == Stage.PRE_FILTER and why != Reason.UNTRUSTED_ROLE
    }
    shown = sorted(drops, key=lambda key: (-drops[key], key))[:_SHOWN_REASONS]
    return {why: [_share_of_turns(each, stage, why) for each in steps] for stage, why in shown}


def _share_of_turns(tallies: Tallies, stage: str, why: str) -> float | None:
    turns = users_turns(tallies)
    return tallies.sums.get((Measure.DROPS, stage, why), 0.0) / turns if turns else None


def _speeds(project_id: UUID, period: Period) -> list[Speed]:
    rows = HourlyLatency.objects.filter(project_id=project_id, hour__gte=period.start, hour__lte=period.end)
    buckets: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for stage, bucket, spans in rows.order_by().values_list("stage", "bucket").annotate(total=Sum("spans")):
        buckets[stage][bucket] = spans
    return [
        Speed(stage.value, sum(found.values()), quantile(found, 0.5), quantile(found, 0.99))
        for stage in Stage
        if (found := buckets.get(stage.value, {}))
    ]


def _alerts(shown: Dashboard) -> Iterator[str]:
    if not shown.queue.workers:
        yield "No worker has told for 30 seconds that it lives: accepted turns wait."
    if shown.queue.dead:
        yield f"{shown.queue.dead} pieces of work were given up; see the outbox."
    if shown.queue.is_late:
        yield f"The oldest owed work has waited {shown.queue.oldest_seconds} seconds."
    for gauge in shown.gauges:
        if gauge.reading.health is RatioHealth.ALERT:
            yield (
                f"{gauge.reading.share.capitalize()}: {gauge.reading.value:.1%}, "
                f"healthy is {gauge.band.low:.0%} to {gauge.band.high:.0%}."
            )


def funnel_of(totals: Tallies) -> list[tuple[str, int, str]]:
    """Return what is left of the turns after each step, with a note of what the last ones came to."""
    past = past_pre_filter(totals)
    telling = past - totals.of(Measure.DROPS, reasons=frozenset({Reason.NO_CANDIDATE}))
    ended = {outcome: int(totals.of(Measure.RULINGS, reasons=frozenset({outcome}))) for outcome in _ENDS}
    note = ", ".join(f"{count} {outcome.replace('_', ' ')}" for outcome, count in ended.items() if count)
    return [
        ("turns", int(totals.of(Measure.TURNS)), ""),
        ("said by users", int(users_turns(totals)), ""),
        ("past the pre-filter", int(past), ""),
        ("with a candidate", int(telling), ""),
        ("with a new memory", int(totals.of(Measure.NEW_TURNS)), f"memories: {note}" if note else ""),
    ]
