"""Conditions on ratios and latencies of the last hours.

Each is measured over the fewest hours, from now back, that hold enough: after an outage a busy project's alert is
resolved within the hour, and a quiet project is judged at all.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from apps.actions.alerts.measured import Condition, Measured
from apps.alerts.enums import AlertKind
from apps.pipeline.core.enums import Stage
from apps.traces.funnel_metrics import (
    BANDS,
    MIN_SPANS,
    MIN_WHOLE,
    P99_LIMITS_US,
    Ratio,
    RatioHealth,
    RatioReading,
    Tallies,
    is_too_slow,
    quantile,
    ratio_readings,
    sudden_change,
    total_of,
)

MOST_HOURS = 24
# So many cases must lie beyond the limit: of 50 calls, one failure exceeds a limit of 0.2 % and is chance.
LEAST_EXCESS = 5


def hourly_conditions(measured: Measured) -> Iterator[Condition]:
    """Yield the conditions on ratios, sudden changes and latencies."""
    hours = measured.hours[-MOST_HOURS:]
    for ratio in Ratio:
        yield from _ratio(ratio, hours)
    if (change := sudden_change(Ratio.PRE_FILTER, hours)) is not None:
        figures = {"before": change.before, "latest": change.latest}
        yield Condition(AlertKind.SUDDEN_CHANGE, subject_of(change.ratio), figures, window_hours=len(hours))
    for stage, histograms in measured.latencies.items():
        yield from _latency(stage, histograms[-MOST_HOURS:])


def _ratio(ratio: Ratio, hours: Sequence[Tallies]) -> Iterator[Condition]:
    for number in range(1, len(hours) + 1):
        readings = ratio_readings(total_of(hours[-number:]))
        reading = next(each for each in readings if each.ratio is ratio)
        if reading.whole >= MIN_WHOLE:
            break
    else:
        return
    if reading.health is RatioHealth.ALERT and excess(reading) >= LEAST_EXCESS:
        figures = {"value": reading.value, "part": round(reading.part), "whole": round(reading.whole)}
        yield Condition(AlertKind.RATIO, subject_of(ratio), figures, window_hours=number)


def excess(reading: RatioReading) -> float:
    """Return how many cases lie beyond the limit of an alert."""
    band = BANDS[reading.ratio]
    return max(reading.part - band.alert_above * reading.whole, band.alert_below * reading.whole - reading.part)


def _latency(stage: Stage, histograms: Sequence[Mapping[int, int]]) -> Iterator[Condition]:
    for number in range(1, len(histograms) + 1):
        buckets = _added(histograms[-number:])
        if buckets.total() >= MIN_SPANS:
            break
    else:
        return
    p99 = quantile(buckets, 0.99)
    if is_too_slow(stage, spans=buckets.total(), p99_us=p99):
        figures = {"p99_us": p99, "limit_us": P99_LIMITS_US[stage], "spans": buckets.total()}
        yield Condition(AlertKind.STAGE_LATENCY, stage.value, figures, window_hours=number)


def _added(histograms: Sequence[Mapping[int, int]]) -> Counter[int]:
    total: Counter[int] = Counter()
    for histogram in histograms:
        total.update(histogram)
    return total


def subject_of(ratio: Ratio) -> str:
    """Return the subject of alerts about a ratio."""
    return ratio.name.lower()


def ratio_of(subject: str) -> Ratio:
    """Return the ratio that an alert is about."""
    return Ratio[subject.upper()]
