"""Which conditions for alerts hold; docs/decisions/alerts.md gives the reasons of the limits."""

from collections.abc import Iterator
from datetime import timedelta

from apps.actions.alerts.hourly_conditions import hourly_conditions
from apps.actions.alerts.measured import Condition, Measured
from apps.actions.evaluation.targets import MIN_LABELLED, TARGETS, Figure
from apps.alerts.enums import AlertKind
from apps.events.delivery_times import ALERT_AFTER
from apps.pipeline.core.enums import PausedKind

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
