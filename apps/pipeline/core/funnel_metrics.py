"""Measures: what is counted of a funnel, the shares that tell its health, and the bands in which they should lie."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from apps.pipeline.core.enums import Outcome, Reason, Stage
from apps.pipeline.core.model_calls import AnswerKind


class Measure(StrEnum):
    """What an hour's tallies count; a stage and a reason tell some of them apart."""

    TURNS = "turns"
    NEW_TURNS = "new_turns"  # turns that added a memory
    DROPS = "drops"  # by stage and reason: turns in pre_filter and for no_candidate, else candidates
    RULINGS = "rulings"  # candidates that came through, by outcome
    SUPERSEDED = "superseded"
    TRACES = "traces"  # by the status that they ended in
    CALLS = "calls"
    CALLS_CACHED = "calls_cached"
    CALLS_FAILED = "calls_failed"
    ANSWERS = "answers"  # by what they were: memories, empty, truncated, unparsable, refused
    INVALID_OBJECTS = "invalid_objects"  # of answers, that were no memories
    TOKENS = "tokens"  # by kind: input, cache_read, cache_write, output
    COST = "cost"  # dollars


class Ratio(StrEnum):
    """A part of a whole that tells whether a funnel is healthy."""

    PRE_FILTER = "users' turns dropped by the pre-filter"
    NO_CANDIDATE = "asked, yet without a candidate"
    EMPTY_CALLS = "model calls with an empty list"
    LOW_QUALITY = "candidates not worth keeping"
    DUPLICATES = "candidates merged into known memories"
    WEAKER = "candidates of weaker evidence"
    FAILED_CALLS = "model calls that could not be used"
    CACHED_CALLS = "model calls read from the cache"
    NOTHING_NEW = "users' turns that add nothing new"


@dataclass(frozen=True, slots=True)
class Band:
    """Where a share should lie, and beyond what it needs a person; all from 0 to 1."""

    low: float
    high: float
    alert_below: float = 0.0
    alert_above: float = 1.0


# From reports of a production funnel; where one names no alert, leaving the band by far is none. "Turns" are taken as
# what users said: turns of other roles are context, and how many come along is the caller's choice.
BANDS: dict[Ratio, Band] = {
    Ratio.PRE_FILTER: Band(0.30, 0.50),
    Ratio.NO_CANDIDATE: Band(0.25, 0.30, alert_above=0.35),
    Ratio.EMPTY_CALLS: Band(0.35, 0.50, alert_below=0.30),
    Ratio.LOW_QUALITY: Band(0.40, 0.60, alert_below=0.30, alert_above=0.75),
    Ratio.DUPLICATES: Band(0.15, 0.20, alert_above=0.25),
    Ratio.WEAKER: Band(0.03, 0.05),
    Ratio.FAILED_CALLS: Band(0.0, 0.002, alert_above=0.002),
    Ratio.CACHED_CALLS: Band(0.85, 0.90),
    Ratio.NOTHING_NEW: Band(0.80, 0.90),
}
# Fewer than this of the whole says nothing about health.
LEAST_WHOLE = 50

QUALITY_REASONS = frozenset({Reason.LOW_QUALITY, Reason.LOW_CONFIDENCE, Reason.NOT_SUPPORTED, Reason.OVER_LIMIT})


class RatioHealth(StrEnum):
    """What a share says."""

    UNKNOWN = "unknown"  # too few to tell
    HEALTHY = "healthy"
    OUTSIDE = "outside"  # of the band, not yet worth an alert
    ALERT = "alert"


@dataclass(frozen=True, slots=True)
class Tallies:
    """Sums over a period, by measure, stage and reason."""

    sums: Mapping[tuple[Measure, str, str], float]

    def of(self, measure: Measure, *, stage: str | None = None, reasons: frozenset[str] | None = None) -> float:
        """Sum what fits."""
        return sum(
            amount
            for (each, at, why), amount in self.sums.items()
            if each is measure and stage in (None, at) and (reasons is None or why in reasons)
        )


@dataclass(frozen=True, slots=True)
class RatioReading:
    """A share as a period has it; None where there was nothing to take a share of."""

    share: Ratio
    part: float
    whole: float
    has_band: bool = True  # the band of quality belongs to a model: patterns propose nothing to discard

    @property
    def value(self) -> float | None:
        """Return the part of the whole."""
        return self.part / self.whole if self.whole else None

    @property
    def health(self) -> RatioHealth:
        """Judge it against its band."""
        value, band = self.value, BANDS[self.share]
        if value is None or self.whole < LEAST_WHOLE or not self.has_band:
            return RatioHealth.UNKNOWN
        if band.low <= value <= band.high:
            return RatioHealth.HEALTHY
        return RatioHealth.ALERT if value < band.alert_below or value > band.alert_above else RatioHealth.OUTSIDE


def ratio_readings(tallies: Tallies) -> list[RatioReading]:
    """Return every share of a period, in the order of the funnel."""
    turns = users_turns(tallies)
    filtered = turns - past_pre_filter(tallies)
    silent = tallies.of(Measure.DROPS, reasons=frozenset({Reason.NO_CANDIDATE}))
    candidates = candidates_of(tallies)
    merged = tallies.of(Measure.RULINGS, reasons=frozenset({Outcome.MERGED}))
    repeats = tallies.of(Measure.DROPS, reasons=frozenset({Reason.DUPLICATE}))
    calls = tallies.of(Measure.CALLS)
    return [
        RatioReading(Ratio.PRE_FILTER, filtered, turns),
        RatioReading(Ratio.NO_CANDIDATE, silent, turns - filtered),
        RatioReading(Ratio.EMPTY_CALLS, tallies.of(Measure.ANSWERS, reasons=frozenset({AnswerKind.EMPTY})), calls),
        RatioReading(Ratio.LOW_QUALITY, tallies.of(Measure.DROPS, reasons=QUALITY_REASONS), candidates, calls > 0),
        RatioReading(Ratio.DUPLICATES, merged + repeats, candidates),
        RatioReading(Ratio.WEAKER, tallies.of(Measure.DROPS, reasons=frozenset({Reason.WEAKER_EVIDENCE})), candidates),
        RatioReading(Ratio.FAILED_CALLS, tallies.of(Measure.CALLS_FAILED), calls),
        RatioReading(Ratio.CACHED_CALLS, tallies.of(Measure.CALLS_CACHED), calls),
        RatioReading(Ratio.NOTHING_NEW, turns - tallies.of(Measure.NEW_TURNS), turns),
    ]


def users_turns(tallies: Tallies) -> float:
    """Count the turns of users, all others being context."""
    others = tallies.of(Measure.DROPS, stage=Stage.PRE_FILTER, reasons=frozenset({Reason.UNTRUSTED_ROLE}))
    return tallies.of(Measure.TURNS) - others


def past_pre_filter(tallies: Tallies) -> float:
    """Count the turns that were extracted from."""
    return tallies.of(Measure.TURNS) - tallies.of(Measure.DROPS, stage=Stage.PRE_FILTER)


def candidates_of(tallies: Tallies) -> float:
    """Count the candidates of a period: those that came through and those that were dropped."""
    dropped = tallies.of(Measure.DROPS) - tallies.of(Measure.DROPS, stage=Stage.PRE_FILTER)
    silent = tallies.of(Measure.DROPS, reasons=frozenset({Reason.NO_CANDIDATE}))
    return tallies.of(Measure.RULINGS) + dropped - silent


# Latencies are kept by the power of two that they lie under, in eighths: a quantile is exact to 9 %.
_STEPS = 8


def quantile(buckets: Mapping[int, int], share: float) -> int | None:
    """Return the latency in microseconds that a share of the measurements stays within; None without any."""
    wanted = share * sum(buckets.values())
    seen = 0
    for bucket in sorted(buckets):
        seen += buckets[bucket]
        if seen >= wanted:
            return round(2 ** ((bucket + 1) / _STEPS))
    return None
