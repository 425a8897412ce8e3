"""What the figures should be, and warnings where they are not."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from apps.actions.evaluation.figures import EvaluationFigures
from apps.traces.funnel_metrics import Band, RatioHealth

MIN_LABELLED = 30  # fewer labels, or turns, say nothing about health


class Figure(StrEnum):
    """A figure that has a target."""

    PRECISION = "precision"
    RECALL = "recall"
    ZERO_EXTRACTION = "zero_extraction"


TARGETS: dict[Figure, Band] = {
    Figure.PRECISION: Band(0.80, 1.0, alert_below=0.70),
    Figure.RECALL: Band(0.60, 1.0),
    Figure.ZERO_EXTRACTION: Band(0.0, 0.55),
}


@dataclass(frozen=True, slots=True)
class FigureReading:
    """The value of a figure from 0 to 1 and where it lies; it is unknown if fewer than MIN_LABELLED tell it."""

    figure: Figure
    value: float | None
    health: RatioHealth


@dataclass(frozen=True, slots=True)
class EvaluationWarning:
    """A figure that misses its target; `is_alert` if it is so far off that somebody has to look at it now."""

    figure: Figure
    value: float
    limit: float
    is_alert: bool


def readings_of(figures: EvaluationFigures) -> tuple[FigureReading, ...]:
    """Compare each figure with its target."""
    recall = figures.recall.value
    values = {
        Figure.PRECISION: (figures.precision.value, figures.precision.whole),
        Figure.RECALL: (recall, min(figures.precision.whole, figures.missed.whole)),
        Figure.ZERO_EXTRACTION: (figures.zero_extraction.value, figures.zero_extraction.whole),
    }
    return tuple(FigureReading(figure, value, _health(figure, value, told)) for figure, (value, told) in values.items())


def evaluation_warnings(*, figures: EvaluationFigures) -> Iterator[EvaluationWarning]:
    """Yield the figures, usually of the latest week, that miss their targets."""
    for reading in readings_of(figures):
        if reading.value is not None and reading.health in (RatioHealth.OUTSIDE, RatioHealth.ALERT):
            band = TARGETS[reading.figure]
            is_alert = reading.health is RatioHealth.ALERT
            limit = band.low if reading.value < band.low else band.high
            yield EvaluationWarning(reading.figure, reading.value, limit, is_alert)


def _health(figure: Figure, value: float | None, told: float) -> RatioHealth:
    if value is None or told < MIN_LABELLED:
        return RatioHealth.UNKNOWN
    band = TARGETS[figure]
    if band.low <= value <= band.high:
        return RatioHealth.HEALTHY
    return RatioHealth.ALERT if value < band.alert_below or value > band.alert_above else RatioHealth.OUTSIDE
