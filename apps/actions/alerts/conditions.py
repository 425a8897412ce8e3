"""Decide which alerts are open."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from apps.actions.evaluation.figures import MIN_LABELLED, TARGETS, Figure
from apps.actions.evaluation.share import Share
from apps.alerts.enums import AlertKind
from apps.events.deliveries import ALERT_AFTER
from apps.pipeline.core.enums import PausedKind, Stage
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


@dataclass(frozen=True, slots=True)
class SilentModel:
    """A model or embedder that has not answered the project's calls since a time."""

    model: str
    kind: PausedKind
    since: datetime
    waiting: int  # requests and sessions of users that wait for it


@dataclass(frozen=True, slots=True)
class SilentReceiver:
    """A webhook whose receiver has taken nothing since a time; `is_paused` by the system, because of that."""

    webhook: str
    since: datetime
    waiting: int  # deliveries
    is_paused: bool


@dataclass(frozen=True, slots=True)
class Measured:
    """A project's queue at one moment, and its last hours, oldest first; the last hour is the current one.

    Ages in seconds. `latencies` are histograms of the spans of a stage, as in `funnel_metrics.quantile`, by hour.
    `precision` is that of the memories labelled in the latest week with labels, None without such a week.
    """

    now: datetime
    workers: int
    open_work: int = 0
    oldest_seconds: float = 0.0
    vector_lag_seconds: float = 0.0
    dead: int = 0
    precision: Share | None = None
    silent_models: tuple[SilentModel, ...] = ()
    silent_receivers: tuple[SilentReceiver, ...] = ()
    hours: Sequence[Tallies] = ()
    latencies: Mapping[Stage, Sequence[Mapping[int, int]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that is wrong now. `window_hours` is the period that the figures are of; None is this moment.

    With `opens` False it is too young for an alert of its own, and only explains what follows from it.
    """

    kind: AlertKind
    subject: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)
    window_hours: int | None = None
    opens: bool = True

    @property
    def key(self) -> tuple[AlertKind, str]:
        """Return what tells alerts of a project apart."""
        return self.kind, self.subject


SILENT_FOR = timedelta(minutes=1)  # before that, a model may just be loading or limiting its callers
WORK_WITHOUT_WORKER_SECONDS = 60.0
QUEUE_AGE_SECONDS = 300.0
VECTOR_LAG_SECONDS = 600.0

KIND_OF_SILENCE = {
    PausedKind.MODEL: AlertKind.MODEL_UNAVAILABLE,
    PausedKind.EMBEDDER: AlertKind.EMBEDDER_UNAVAILABLE,
}


def conditions_of(measured: Measured) -> list[Condition]:
    """Return the conditions that hold, causes before what may follow from them."""
    return [
        *_silent_models(measured),
        *_queue(measured),
        *hourly_conditions(measured),
        *_precision(measured),
        *_silent_receivers(measured),
    ]


def _silent_models(measured: Measured) -> Iterator[Condition]:
    for silent in measured.silent_models:
        yield Condition(
            kind=KIND_OF_SILENCE[silent.kind],
            subject=silent.model,
            figures={"since": silent.since.isoformat(), "waiting": silent.waiting},
            opens=measured.now - silent.since >= SILENT_FOR,
        )


def _silent_receivers(measured: Measured) -> Iterator[Condition]:
    for silent in measured.silent_receivers:
        if silent.is_paused or measured.now - silent.since >= ALERT_AFTER:
            yield Condition(
                kind=AlertKind.WEBHOOK_FAILING,
                subject=silent.webhook,
                figures={
                    "since": silent.since.isoformat(),
                    "waiting": silent.waiting,
                    "paused": silent.is_paused,
                },
            )


def _queue(measured: Measured) -> Iterator[Condition]:
    oldest, lag = round(measured.oldest_seconds), round(measured.vector_lag_seconds)
    age = {"seconds": oldest, "open": measured.open_work}
    if not measured.workers and measured.oldest_seconds >= WORK_WITHOUT_WORKER_SECONDS:
        yield Condition(AlertKind.NO_WORKER, figures=age)
    if measured.oldest_seconds >= QUEUE_AGE_SECONDS:
        yield Condition(AlertKind.QUEUE_AGE, figures=age)
    if measured.dead:
        yield Condition(AlertKind.DEAD_WORK, figures={"dead": measured.dead})
    if measured.vector_lag_seconds >= VECTOR_LAG_SECONDS:
        yield Condition(AlertKind.VECTOR_LAG, figures={"seconds": lag})


def _precision(measured: Measured) -> Iterator[Condition]:
    found, least = measured.precision, TARGETS[Figure.PRECISION].alert_below
    if found is None or found.value is None or found.whole < MIN_LABELLED or found.value >= least:
        return
    wrong, judged = round(found.whole - found.part), round(found.whole)
    figures = {"precision": found.value, "least": least, "wrong": wrong, "judged": judged}
    yield Condition(AlertKind.EVALUATION_PRECISION, figures=figures)


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


Key = tuple[AlertKind, str]  # kind and subject

_ASKING_STAGES = frozenset({Stage.EXTRACT.value, Stage.RESOLVE_REFS.value, Stage.DEDUPE.value})  # they ask models
# Kind of the cause -> kinds that follow from it; None: any subject.
_FOLLOWS: dict[AlertKind, dict[AlertKind, frozenset[str] | None]] = {
    AlertKind.MODEL_UNAVAILABLE: {
        AlertKind.QUEUE_AGE: None,
        AlertKind.DEAD_WORK: None,
        AlertKind.VECTOR_LAG: None,
        AlertKind.STAGE_LATENCY: _ASKING_STAGES,
        AlertKind.RATIO: frozenset({subject_of(Ratio.FAILED_CALLS)}),
    },
    AlertKind.EMBEDDER_UNAVAILABLE: {
        AlertKind.QUEUE_AGE: None,
        AlertKind.DEAD_WORK: None,
        AlertKind.VECTOR_LAG: None,
        AlertKind.STAGE_LATENCY: frozenset({Stage.DEDUPE.value}),  # it compares vectors
    },
    AlertKind.NO_WORKER: {AlertKind.QUEUE_AGE: None, AlertKind.VECTOR_LAG: None},
    AlertKind.QUEUE_AGE: {AlertKind.VECTOR_LAG: None},
}


def cause_of(key: Key, *, among: Collection[Key]) -> Key | None:
    """Return the first of some conditions from which another follows; the cause of a cause comes first."""
    found = next((other for other in among if _follows(key, other)), None)
    return None if found is None else cause_of(found, among=among) or found


def _follows(key: Key, cause: Key) -> bool:
    kind, subject = key
    if kind not in _FOLLOWS.get(cause[0], {}):
        return False
    subjects = _FOLLOWS[cause[0]][kind]
    return subjects is None or subject in subjects


# How long a condition must have been absent: longer than the longest pause between two tries of a model (7.5 minutes
# with jitter), so that a model which answers one call in between does not resolve and reopen its alert.
RESOLVE_AFTER = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class UnresolvedAlert:
    """An alert that is open or acknowledged; `last_seen_at` is when its condition last held."""

    id: UUID
    key: Key
    last_seen_at: datetime


@dataclass(frozen=True, slots=True)
class AlertFinding:
    """A condition that holds, and the conditions that follow from it."""

    condition: Condition
    consequences: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class AlertDecisions:
    """What to do: findings to open an alert for, findings of alerts that last, and alerts to resolve."""

    opened: tuple[AlertFinding, ...]
    lasting: tuple[tuple[UUID, AlertFinding], ...]
    resolved: tuple[UUID, ...]


def decide(
    *,
    conditions: Sequence[Condition],
    unresolved: Sequence[UnresolvedAlert],
    now: datetime,
    resolve_after: timedelta = RESOLVE_AFTER,
) -> AlertDecisions:
    """Compare the conditions that hold with the alerts that are not resolved.

    A condition that follows from another, or from a cause whose alert is not resolved yet, opens no alert of its own;
    one whose alert is older than the cause keeps it.
    """
    known = {alert.key: alert for alert in unresolved}
    holding = {condition.key: condition for condition in conditions}
    causes = list(dict.fromkeys([*holding, *known]))
    followers: dict[Key, list[Condition]] = {}
    own: list[Condition] = []
    for key, condition in holding.items():
        cause = None if key in known else cause_of(key, among=causes)
        if cause is None:
            own.append(condition)
        else:
            followers.setdefault(cause, []).append(condition)
    findings = [AlertFinding(each, tuple(followers.get(each.key, ()))) for each in own]
    return AlertDecisions(
        opened=tuple(each for each in findings if each.condition.key not in known and each.condition.opens),
        lasting=tuple((known[each.condition.key].id, each) for each in findings if each.condition.key in known),
        resolved=tuple(
            alert.id for alert in unresolved if alert.key not in holding and now - alert.last_seen_at >= resolve_after
        ),
    )
