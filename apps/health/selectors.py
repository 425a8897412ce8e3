"""The dashboard: figures of a period with their bands, and series for the charts."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Max, Sum
from django.db.models.functions import Trunc

from apps.console.charts import DashboardPeriod, FunnelStep
from apps.console.labels import label, noun_for
from apps.pipeline.core.enums import Outcome, Reason, Stage
from apps.traces.funnel_metrics import (
    BANDS,
    P99_LIMITS_US,
    Band,
    Measure,
    Ratio,
    RatioHealth,
    RatioReading,
    Tallies,
    is_too_slow,
    past_pre_filter,
    quantile,
    ratio_readings,
    total_of,
    users_turns,
)
from apps.traces.models import HourlyLatency, HourlyTally, TalliedHour
from apps.traces.selectors import FateChart, fate_chart
from apps.traces.tallies import Amount, count_now, latencies_now


@dataclass(frozen=True, slots=True)
class TimeSeries:
    """Lines over the steps of a period; `unit` is percent or dollars, `band` is shaded behind the lines."""

    label: str
    unit: str
    times: list[int]  # seconds since 1970
    lines: dict[str, list[float | None]]
    band: tuple[float, float] | None = None

    def as_json(self) -> str:
        """Return the JSON that plots.js reads."""
        lines = [{"label": label, "values": values} for label, values in self.lines.items()]
        return json.dumps({"unit": self.unit, "times": self.times, "lines": lines, "band": self.band})


@dataclass(frozen=True, slots=True)
class Gauge:
    """A ratio with its healthy band and its values over time."""

    reading: RatioReading
    band: Band
    values: list[float | None]

    @property
    def label(self) -> str:
        """Return the name of the ratio."""
        return self.reading.ratio.value

    @property
    def is_off_target(self) -> bool:
        """Return True if the ratio is outside of its healthy band."""
        return self.reading.health in (RatioHealth.OUTSIDE, RatioHealth.ALERT)

    @property
    def part_of_whole(self) -> str:
        """Return the numerator and denominator as text."""
        return f"{self.reading.part:,.0f} of {self.reading.whole:,.0f}"


@dataclass(frozen=True, slots=True)
class GaugeTimeSeries:
    """A gauge with its time series."""

    gauge: Gauge
    plot: TimeSeries


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

    stage: Stage
    spans: int
    p50: int | None
    p99: int | None

    @property
    def limit(self) -> int | None:
        """Return the limit of the 99th percentile, if the stage has one."""
        return P99_LIMITS_US.get(self.stage)

    @property
    def is_too_slow(self) -> bool:
        """Return True if the 99th percentile exceeds its limit."""
        return is_too_slow(self.stage, spans=self.spans, p99_us=self.p99)


@dataclass(frozen=True, slots=True)
class Dashboard:
    """Everything on the dashboard."""

    period: DashboardPeriod
    totals: Tallies
    fates: FateChart
    gauges: list[Gauge]
    drops: list[DropLine]
    reasons: dict[str, list[float | None]]
    costs: list[float]
    speeds: list[StageLatency]
    tallied_at: datetime | None


def gauge_series(shown: Dashboard) -> list[GaugeTimeSeries]:
    """Return a time series for each ratio, in the order of the funnel."""
    times = _times(shown)
    return [
        GaugeTimeSeries(
            gauge,
            TimeSeries(
                label=f"{gauge.label} over time",
                unit="percent",
                times=times,
                lines={"share": gauge.values},
                band=(gauge.band.low, gauge.band.high),
            ),
        )
        for gauge in shown.gauges
    ]


def reason_series(shown: Dashboard) -> TimeSeries:
    """Return the shares of rejected turns by reason."""
    lines: dict[str, list[float | None]] = {label(why): [*values] for why, values in shown.reasons.items()}
    return TimeSeries("share of users' turns rejected, by reason", "percent", _times(shown), lines)


def cost_series(shown: Dashboard) -> TimeSeries:
    """Return the cost of model calls."""
    return TimeSeries("dollars over time", "dollars", _times(shown), {"dollars": [*shown.costs]})


def _times(shown: Dashboard) -> list[int]:
    return [int(moment.timestamp()) for moment in shown.period.steps]


AN_HOUR = timedelta(hours=1)
MOST_COUNTED_LIVE = 20_000  # turns
_ENDS = (Outcome.STORED, Outcome.MERGED, Outcome.PENDING_REVIEW)
_PLOTTED_REASONS = 7  # the table lists all

Key = tuple[Measure, str, str]


def dashboard(*, project_id: UUID, period: DashboardPeriod) -> Dashboard:
    """Read the dashboard of a project with at most six queries, whatever the amount of data."""
    steps = _tallies(project_id, period)
    totals = total_of(steps.values())
    by_step = [steps[moment] for moment in period.steps]
    return Dashboard(
        period=period,
        totals=totals,
        fates=fate_chart(dict(zip(period.steps, by_step, strict=True)), step=period.step),
        gauges=_gauges(totals, by_step),
        drops=list(_drop_lines(totals)),
        reasons=_reasons(totals, by_step),
        costs=[each.of(Measure.COST) for each in by_step],
        speeds=_speeds(project_id, period),
        tallied_at=period.end if period.is_exact else TalliedHour.objects.aggregate(last=Max("tallied_at"))["last"],
    )


def is_busy(*, project_id: UUID, now: datetime) -> bool:
    """Return True if a project had so many turns in this hour and the last that counting them takes too long."""
    rows = HourlyTally.objects.filter(project_id=project_id, hour__gte=now - AN_HOUR, measure=Measure.TURNS)
    return (rows.aggregate(turns=Sum("amount"))["turns"] or 0) > MOST_COUNTED_LIVE


def _tallies(project_id: UUID, period: DashboardPeriod) -> defaultdict[datetime, Tallies]:
    amounts: Iterable[Amount]
    if period.is_exact:
        amounts = count_now(project_id=project_id, since=period.start, until=period.end, step=period.step_length)
    else:
        rows = HourlyTally.objects.filter(project_id=project_id, hour__gte=period.start, hour__lte=period.end)
        by_step = rows.order_by().annotate(step=Trunc("hour", period.step.value))
        summed = by_step.values_list("step", "measure", "stage", "reason").annotate(amount=Sum("amount"))
        amounts = [Amount(*row) for row in summed]
    found: defaultdict[datetime, dict[Key, float]] = defaultdict(dict)
    for step, measure, stage, reason, amount in amounts:
        found[step][Measure(measure), stage, reason] = amount
    return defaultdict(lambda: Tallies({}), {step: Tallies(sums) for step, sums in found.items()})


def _gauges(totals: Tallies, steps: list[Tallies]) -> list[Gauge]:
    values: dict[Ratio, list[float | None]] = {ratio: [] for ratio in Ratio}
    for tallies in steps:
        for reading in ratio_readings(tallies):
            values[reading.ratio].append(reading.value)
    return [Gauge(reading, BANDS[reading.ratio], values[reading.ratio]) for reading in ratio_readings(totals)]


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
    plotted = sorted(drops, key=lambda key: (-drops[key], key))[:_PLOTTED_REASONS]
    turns = [users_turns(each) for each in steps]
    return {
        why: [
            each.sums.get((Measure.DROPS, stage, why), 0.0) / whole if whole else None
            for each, whole in zip(steps, turns, strict=True)
        ]
        for stage, why in plotted
    }


def _speeds(project_id: UUID, period: DashboardPeriod) -> list[StageLatency]:
    latencies: Iterable[tuple[str, int, int]]
    if period.is_exact:
        latencies = latencies_now(project_id=project_id, since=period.start, until=period.end)
    else:
        rows = HourlyLatency.objects.filter(project_id=project_id, hour__gte=period.start, hour__lte=period.end)
        latencies = rows.order_by().values_list("stage", "bucket").annotate(total=Sum("spans"))
    buckets: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for stage, bucket, spans in latencies:
        buckets[stage][bucket] = spans
    return [
        StageLatency(stage, sum(found.values()), quantile(found, 0.5), quantile(found, 0.99))
        for stage in Stage
        if (found := buckets.get(stage.value, {}))
    ]


def redacted_text(totals: Tallies) -> str:
    """Return how many placeholders stand in the turns, by kind of data: "3 secret, 1 card"; empty for none."""
    counts = {why: int(count) for (measure, _, why), count in totals.sums.items() if measure is Measure.REDACTED}
    return ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in sorted(counts.items()) if count)


def funnel_steps(totals: Tallies) -> list[FunnelStep]:
    """Return the steps from all turns to those with a new memory, each with what it loses."""
    turns, users, past = int(totals.of(Measure.TURNS)), int(users_turns(totals)), int(past_pre_filter(totals))
    silent = int(totals.of(Measure.DROPS, reasons=frozenset({Reason.NO_CANDIDATE})))
    new = int(totals.of(Measure.NEW_TURNS))
    found = past - silent
    ended = {outcome: int(totals.of(Measure.RULINGS, reasons=frozenset({outcome}))) for outcome in _ENDS}
    note = ", ".join(f"{count} {label(outcome)}" for outcome, count in ended.items() if count)
    return [
        FunnelStep(noun_for(turns, "turn"), turns, turns - users, "of other roles", Reason.UNTRUSTED_ROLE),
        FunnelStep("said by users", users, users - past, "dropped by the pre-filter"),
        FunnelStep("passed the pre-filter", past, silent, "with nothing found", Reason.NO_CANDIDATE),
        FunnelStep("with a candidate", found, max(found - new, 0), "known, discarded or waiting"),
        FunnelStep("with a new memory", new, note=f"memories: {note}" if note else ""),
    ]
