"""The dashboard: figures of a period with their bands, and series for the charts."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db.models import Max, Sum
from django.db.models.functions import Trunc

from apps.console.labels import label, noun_for
from apps.health.periods import DashboardPeriod
from apps.pipeline.core.enums import Outcome, Reason, Stage
from apps.traces.funnel_metrics import (
    BANDS,
    P99_LIMITS_US,
    Measure,
    RatioHealth,
    Tallies,
    is_too_slow,
    past_pre_filter,
    quantile,
    ratio_readings,
    total_of,
    users_turns,
)
from apps.traces.models import HourlyLatency, HourlyTally, TalliedHour
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


class TurnFate(StrEnum):
    """What became of a turn."""

    NEW = "gave a new memory"
    KNOWN = "nothing new: known, discarded or waiting"
    SILENT = "nothing found"
    DROPPED = "dropped by the pre-filter"
    OTHERS = "of other roles"


AN_HOUR = timedelta(hours=1)
MOST_COUNTED_LIVE = 20_000  # turns
_ENDS = (Outcome.STORED, Outcome.MERGED, Outcome.PENDING_REVIEW)
_PLOTTED_REASONS = 7  # the table lists all

Key = tuple[Measure, str, str]


def dashboard(*, project_id: UUID, period: DashboardPeriod) -> dict[str, Any]:
    """Return the figures and charts of a project with at most six queries, whatever the amount of data."""
    by_step = _tallies(project_id, period)
    totals = total_of(by_step.values())
    steps = [by_step[moment] for moment in period.steps]
    times = [int(moment.timestamp()) for moment in period.steps]
    gauges = list(_gauges(totals, steps, times))
    spent: list[float | None] = [each.of(Measure.COST) for each in steps]
    # Placeholders in the turns, by kind of data: "3 secret, 1 card".
    redacted = {why: int(count) for (measure, _, why), count in totals.sums.items() if measure is Measure.REDACTED}
    kinds = [f"{count} {kind.replace('_', ' ')}" for kind, count in sorted(redacted.items()) if count]
    return {
        "period": period,
        "tallied_at": period.end if period.is_exact else TalliedHour.objects.aggregate(last=Max("tallied_at"))["last"],
        "has_turns": bool(totals.of(Measure.TURNS)),
        "fates": _fate_chart(period, steps),
        "funnel": _funnel(totals),
        "off_target": [gauge for gauge in gauges if gauge["is_off_target"]],
        "on_target": [gauge for gauge in gauges if gauge["reading"].whole and not gauge["is_off_target"]],
        "drops": list(_drops(totals)),
        "reasons": TimeSeries(
            "share of users' turns rejected, by reason", "percent", times, _shares_by_reason(totals, steps)
        ),
        "calls": int(totals.of(Measure.CALLS)),
        "dollars": totals.of(Measure.COST),
        "cost": TimeSeries("dollars over time", "dollars", times, {"dollars": spent}),
        "redacted": ", ".join(kinds),
        "speeds": _speeds(project_id, period),
    }


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


def fates_of(tallies: Tallies) -> dict[TurnFate, int]:
    """Count turns by fate.

    A turn may be extracted in a later hour than it was accepted in, so the rest of an hour is at least nothing.
    """
    users, past = users_turns(tallies), past_pre_filter(tallies)
    new = tallies.of(Measure.NEW_TURNS)
    silent = tallies.of(Measure.DROPS, reasons=frozenset({Reason.NO_CANDIDATE}))
    counts = {
        TurnFate.NEW: new,
        TurnFate.KNOWN: past - silent - new,
        TurnFate.SILENT: silent,
        TurnFate.DROPPED: users - past,
        TurnFate.OTHERS: tallies.of(Measure.TURNS) - users,
    }
    return {fate: max(int(count), 0) for fate, count in counts.items()}


_FATE_REASONS = {TurnFate.SILENT: Reason.NO_CANDIDATE, TurnFate.OTHERS: Reason.UNTRUSTED_ROLE}
_BAR_WIDTH, _GAP = 10, 1.5  # of a view box; the chart is stretched to fit


def _fate_chart(period: DashboardPeriod, steps: list[Tallies]) -> dict[str, Any]:
    """Return the turns by fate: counts in all, with the reason by which their traces are found, and for each step."""
    columns = [fates_of(tallies) for tallies in steps]
    total = fates_of(total_of(steps))
    turns = sum(total.values())
    highest = max(sum(column.values()) for column in columns)
    bars = []  # their parts in a view box that is 100 high, the first fate of each bar at the bottom
    for place, column in enumerate(columns):
        top = 100.0
        for fate, count in column.items():
            if count:
                height = 100 * count / highest
                top -= height
                at = {"left": place * _BAR_WIDTH + _GAP / 2, "top": round(max(top, 0.0), 2)}
                bars.append({"fate": fate, **at, "width": _BAR_WIDTH - _GAP, "height": round(height, 2)})
    return {
        "counts": [
            {"fate": fate, "count": count, "share": count / turns if turns else 0.0, "reason": _FATE_REASONS.get(fate)}
            for fate, count in total.items()
        ],
        "steps": [(begins, column.values()) for begins, column in zip(period.steps, columns, strict=True)],
        "bars": bars,
        "width": len(columns) * _BAR_WIDTH,
        "highest": highest,
        "step": period.step,
    }


def _gauges(totals: Tallies, steps: list[Tallies], times: list[int]) -> Iterator[dict[str, Any]]:
    """Yield each ratio with its healthy band and its values over time, in the order of the funnel."""
    by_step = [ratio_readings(tallies) for tallies in steps]
    for number, reading in enumerate(ratio_readings(totals)):
        band = BANDS[reading.ratio]
        lines = {"share": [readings[number].value for readings in by_step]}
        yield {
            "reading": reading,
            "band": band,
            "is_off_target": reading.health in (RatioHealth.OUTSIDE, RatioHealth.ALERT),
            "part_of_whole": f"{reading.part:,.0f} of {reading.whole:,.0f}",
            "plot": TimeSeries(f"{reading.ratio} over time", "percent", times, lines, (band.low, band.high)),
        }


def _drops(totals: Tallies) -> Iterator[dict[str, Any]]:
    """Yield the drops by stage, most frequent reason first.

    Shares are of all turns in the pre-filter, else of everything that the stage dropped.
    """
    order = list(Stage)
    drops = [(stage, why, count) for (measure, stage, why), count in totals.sums.items() if measure is Measure.DROPS]
    for stage, why, count in sorted(drops, key=lambda drop: (order.index(Stage(drop[0])), -drop[2], drop[1])):
        whole = totals.of(Measure.TURNS) if stage == Stage.PRE_FILTER else totals.of(Measure.DROPS, stage=stage)
        yield {"stage": stage, "reason": why, "count": int(count), "share": count / whole if whole else 0.0}


def _shares_by_reason(totals: Tallies, steps: list[Tallies]) -> dict[str, list[float | None]]:
    """Return, for each frequent reason, the share of users' turns rejected per step."""
    drops = {
        why: count
        for (measure, stage, why), count in totals.sums.items()
        if measure is Measure.DROPS and stage == Stage.PRE_FILTER and why != Reason.UNTRUSTED_ROLE
    }
    plotted = sorted(drops, key=lambda why: (-drops[why], why))[:_PLOTTED_REASONS]
    turns = [users_turns(each) for each in steps]
    return {
        label(why): [
            each.sums.get((Measure.DROPS, Stage.PRE_FILTER, why), 0.0) / whole if whole else None
            for each, whole in zip(steps, turns, strict=True)
        ]
        for why in plotted
    }


def _speeds(project_id: UUID, period: DashboardPeriod) -> list[dict[str, Any]]:
    """Return the latency percentiles of each stage that ran, in microseconds, and the limit of the 99th."""
    latencies: Iterable[tuple[str, int, int]]
    if period.is_exact:
        latencies = latencies_now(project_id=project_id, since=period.start, until=period.end)
    else:
        rows = HourlyLatency.objects.filter(project_id=project_id, hour__gte=period.start, hour__lte=period.end)
        latencies = rows.order_by().values_list("stage", "bucket").annotate(total=Sum("spans"))
    buckets: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for stage, bucket, spans in latencies:
        buckets[stage][bucket] = spans
    speeds = []
    for stage in Stage:
        if found := buckets[stage]:
            spans, p99 = sum(found.values()), quantile(found, 0.99)
            speeds.append(
                {
                    "stage": stage,
                    "spans": spans,
                    "p50": quantile(found, 0.5),
                    "p99": p99,
                    "limit": P99_LIMITS_US.get(stage),
                    "is_too_slow": is_too_slow(stage, spans=spans, p99_us=p99),
                }
            )
    return speeds


_LEAST_WIDTH = 0.8  # percent, so that a count of one stays visible


def _funnel(totals: Tallies) -> list[dict[str, Any]]:
    """Return the steps from all turns to those with a new memory: what each loses, and the width of its bar."""
    turns, users, past = int(totals.of(Measure.TURNS)), int(users_turns(totals)), int(past_pre_filter(totals))
    silent = int(totals.of(Measure.DROPS, reasons=frozenset({Reason.NO_CANDIDATE})))
    new = int(totals.of(Measure.NEW_TURNS))
    found = past - silent
    ended = {outcome: int(totals.of(Measure.RULINGS, reasons=frozenset({outcome}))) for outcome in _ENDS}
    note = ", ".join(f"{count} {label(outcome)}" for outcome, count in ended.items() if count)
    rows: list[tuple[str, int, int, str, str]] = [
        (noun_for(turns, "turn"), turns, turns - users, "of other roles", Reason.UNTRUSTED_ROLE),
        ("said by users", users, users - past, "dropped by the pre-filter", ""),
        ("passed the pre-filter", past, silent, "with nothing found", Reason.NO_CANDIDATE),
        ("with a candidate", found, max(found - new, 0), "known, discarded or waiting", ""),
        ("with a new memory", new, 0, "", ""),
    ]
    most = max(count for _, count, *_ in rows)
    steps = [
        {
            "label": name,
            "count": count,
            "lost": lost,
            "lost_as": lost_as,
            "reason": reason,
            "width": round(max(_LEAST_WIDTH, 100 * count / most), 1) if count else 0.0,
        }
        for name, count, lost, lost_as, reason in rows
    ]
    steps[-1]["note"] = f"memories: {note}" if note else ""
    return steps
