"""Metrics of the funnel: what is counted, and the ratios and latencies that show its health."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from apps.pipeline.core.enums import Outcome, Reason, Stage
from apps.pipeline.core.model_calls import AnswerKind, Purpose


class Measure(StrEnum):
    """Quantities that are counted per hour; some are divided further by stage and reason."""

    TURNS = "turns"
    NEW_TURNS = "new_turns"  # turns that added a memory
    DROPS = "drops"  # by stage and reason: turns in pre_filter and for no_candidate, else candidates
    RULINGS = "rulings"  # candidates that passed all stages, by outcome
    REVIEWS = "reviews"  # candidates stored for review, by reason; one with two reasons counts for both
    SUPERSEDED = "superseded"
    REDACTED = "redacted"  # placeholders in turns, by kind of sensitive data
    TRACES = "traces"  # by final status
    CALLS = "calls"
    CALLS_CACHED = "calls_cached"
    CALLS_FAILED = "calls_failed"
    ANSWERS = "answers"  # by purpose of the call, in place of the stage, and by kind of the answer
    INVALID_OBJECTS = "invalid_objects"  # objects in answers that were not valid memories
    CUT_PROMPTS = "cut_prompts"  # prompts of which the server has read less than it was sent
    TOKENS = "tokens"  # by kind: input, cache_read, cache_write, output
    COST = "cost"  # dollars


class Ratio(StrEnum):
    """A share that shows whether the funnel is healthy."""

    PRE_FILTER = "users' turns dropped by the pre-filter"
    NO_CANDIDATE = "turns where nothing was found"
    EMPTY_ANSWERS = "answers to extraction prompts that found nothing"
    LOW_QUALITY = "candidates not worth remembering"
    DUPLICATES = "candidates merged into known memories"
    WEAKER = "candidates with weaker evidence than what they would replace"
    FAILED_CALLS = "failed model calls"
    CACHED_CALLS = "model calls served from the prompt cache"
    NOTHING_NEW = "users' turns that add nothing new"


class RatioHealth(StrEnum):
    """The position of a ratio relative to its band."""

    UNKNOWN = "unknown"  # the whole is too small
    HEALTHY = "healthy"
    OUTSIDE = "outside"  # of the band, but not yet an alert
    ALERT = "alert"


@dataclass(frozen=True, slots=True)
class Band:
    """The range in which a ratio is healthy, and the limits beyond which it raises an alert; all from 0 to 1."""

    low: float
    high: float
    alert_below: float = 0.0
    alert_above: float = 1.0

    def health_of(self, value: float | None, *, is_known: bool = True) -> RatioHealth:
        """Return where a value lies, if enough is known to tell."""
        if value is None or not is_known:
            return RatioHealth.UNKNOWN
        if self.low <= value <= self.high:
            return RatioHealth.HEALTHY
        return RatioHealth.ALERT if value < self.alert_below or value > self.alert_above else RatioHealth.OUTSIDE


# From reports of a production funnel, except LOW_QUALITY (docs/decisions/dashboard.md gives the reason). "Turns" are
# those of users: turns of other roles are context, and how many a caller sends says nothing about health.
BANDS: dict[Ratio, Band] = {
    Ratio.PRE_FILTER: Band(0.30, 0.50),
    Ratio.NO_CANDIDATE: Band(0.25, 0.30, alert_above=0.35),
    Ratio.EMPTY_ANSWERS: Band(0.35, 0.50, alert_below=0.30),
    Ratio.LOW_QUALITY: Band(0.0, 0.20, alert_above=0.40),
    Ratio.DUPLICATES: Band(0.15, 0.20, alert_above=0.25),
    Ratio.WEAKER: Band(0.0, 0.05),
    Ratio.FAILED_CALLS: Band(0.0, 0.002, alert_above=0.002),
    Ratio.CACHED_CALLS: Band(0.85, 0.90),
    Ratio.NOTHING_NEW: Band(0.80, 0.90),
}
MIN_WHOLE = 50  # a smaller whole says nothing about health

# Microseconds that 99 of 100 spans should stay within; docs/decisions/dashboard.md gives the reasons.
P99_LIMITS_US: dict[Stage, int] = {
    Stage.PRE_FILTER: 5_000,
    Stage.EXTRACT: 10_000_000,
    Stage.RESOLVE_REFS: 2_500_000,
    Stage.DEDUPE: 2_500_000,
    Stage.CONFLICT: 500_000,
    Stage.PERSIST: 500_000,
}
MIN_SPANS = 100  # the 99th percentile of fewer spans is their maximum

QUALITY_REASONS = frozenset({Reason.LOW_QUALITY, Reason.LOW_CONFIDENCE, Reason.NOT_SUPPORTED, Reason.OVER_LIMIT})
WEAKER_REASONS = frozenset({Reason.WEAKER_EVIDENCE, Reason.LESS_TRUSTED})


@dataclass(frozen=True, slots=True)
class Tallies:
    """Sums over a period, by measure, stage and reason."""

    sums: Mapping[tuple[Measure, str, str], float]

    def of(self, measure: Measure, *, stage: str | None = None, reasons: frozenset[str] | None = None) -> float:
        """Return the sum over the given stage and reasons; None means all."""
        return sum(
            amount
            for (each, at, why), amount in self.sums.items()
            if each is measure and stage in (None, at) and (reasons is None or why in reasons)
        )


@dataclass(frozen=True, slots=True)
class RatioReading:
    """The value of a ratio in a period."""

    ratio: Ratio
    part: float
    whole: float
    has_band: bool = (
        True  # the band of LOW_QUALITY is for models: the plain extractor proposes nothing that it discards
    )

    @property
    def value(self) -> float | None:
        """Return the part divided by the whole; None if the whole is empty."""
        return self.part / self.whole if self.whole else None

    @property
    def health(self) -> RatioHealth:
        """Compare the value with its band."""
        return BANDS[self.ratio].health_of(self.value, is_known=self.whole >= MIN_WHOLE and self.has_band)


def ratio_readings(tallies: Tallies) -> list[RatioReading]:
    """Return every ratio of a period, in the order of the funnel."""
    turns = users_turns(tallies)
    filtered = turns - past_pre_filter(tallies)
    silent = tallies.of(Measure.DROPS, reasons=frozenset({Reason.NO_CANDIDATE}))
    empty = tallies.of(Measure.ANSWERS, stage=Purpose.EXTRACT, reasons=frozenset({AnswerKind.EMPTY}))
    candidates = candidates_of(tallies)
    merged = tallies.of(Measure.RULINGS, reasons=frozenset({Outcome.MERGED}))
    repeats = tallies.of(Measure.DROPS, reasons=frozenset({Reason.DUPLICATE}))
    calls = tallies.of(Measure.CALLS)
    return [
        RatioReading(Ratio.PRE_FILTER, filtered, turns),
        RatioReading(Ratio.NO_CANDIDATE, silent, turns - filtered),
        RatioReading(Ratio.EMPTY_ANSWERS, empty, tallies.of(Measure.ANSWERS, stage=Purpose.EXTRACT)),
        RatioReading(Ratio.LOW_QUALITY, tallies.of(Measure.DROPS, reasons=QUALITY_REASONS), candidates, calls > 0),
        RatioReading(Ratio.DUPLICATES, merged + repeats, candidates),
        RatioReading(Ratio.WEAKER, tallies.of(Measure.REVIEWS, reasons=WEAKER_REASONS), candidates),
        RatioReading(Ratio.FAILED_CALLS, tallies.of(Measure.CALLS_FAILED), calls),
        RatioReading(Ratio.CACHED_CALLS, tallies.of(Measure.CALLS_CACHED), calls),
        RatioReading(Ratio.NOTHING_NEW, turns - tallies.of(Measure.NEW_TURNS), turns),
    ]


def total_of(steps: Iterable[Tallies]) -> Tallies:
    """Add up the tallies of several steps."""
    sums: dict[tuple[Measure, str, str], float] = {}
    for tallies in steps:
        for key, amount in tallies.sums.items():
            sums[key] = sums.get(key, 0.0) + amount
    return Tallies(sums)


def users_turns(tallies: Tallies) -> float:
    """Count the turns of users; turns of other roles are context."""
    others = tallies.of(Measure.DROPS, stage=Stage.PRE_FILTER, reasons=frozenset({Reason.UNTRUSTED_ROLE}))
    return tallies.of(Measure.TURNS) - others


def past_pre_filter(tallies: Tallies) -> float:
    """Count the turns that passed the pre-filter."""
    return tallies.of(Measure.TURNS) - tallies.of(Measure.DROPS, stage=Stage.PRE_FILTER)


def candidates_of(tallies: Tallies) -> float:
    """Count the candidates of a period: those that passed all stages and those that were dropped."""
    dropped = tallies.of(Measure.DROPS) - tallies.of(Measure.DROPS, stage=Stage.PRE_FILTER)
    silent = tallies.of(Measure.DROPS, reasons=frozenset({Reason.NO_CANDIDATE}))
    return tallies.of(Measure.RULINGS) + dropped - silent


def is_too_slow(stage: Stage, *, spans: int, p99_us: int | None) -> bool:
    """Return True if enough spans of a stage were measured and their 99th percentile exceeds its limit."""
    limit = P99_LIMITS_US.get(stage)
    return limit is not None and p99_us is not None and spans >= MIN_SPANS and p99_us > limit


# Latencies are counted in eight buckets per power of two, so a quantile is accurate to 9 %.
_STEPS = 8


def quantile(buckets: Mapping[int, int], share: float) -> int | None:
    """Return the latency in microseconds that a share of the measurements stays within; None without measurements."""
    wanted = share * sum(buckets.values())
    seen = 0
    for bucket in sorted(buckets):
        seen += buckets[bucket]
        if seen >= wanted:
            return round(2 ** ((bucket + 1) / _STEPS))
    return None
