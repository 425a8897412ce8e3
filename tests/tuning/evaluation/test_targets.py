"""Targets, and figures that miss them."""

import pytest

from apps.traces.funnel_metrics import RatioHealth
from apps.tuning.evaluation.figures import (
    EvaluationFigures,
    Figure,
    RecallEstimate,
    Share,
    readings_of,
    share_of,
)

PRECISION, RECALL, ZERO = Figure


def figures(
    *, good: int = 90, of: int = 100, recall: float = 0.8, turns: int = 50, zero: float = 0.4
) -> EvaluationFigures:
    return EvaluationFigures(
        precision=share_of(part=good, whole=of),
        recall=RecallEstimate(value=recall),
        missed=share_of(part=0, whole=turns),
        zero_extraction=Share(100 * zero, 100, zero),
    )


@pytest.mark.parametrize(
    ("given", "warnings"),
    [
        (figures(), []),
        (figures(good=80), []),
        (figures(good=79), [(PRECISION, 0.79, 0.80, False)]),
        (figures(good=70), [(PRECISION, 0.70, 0.80, False)]),
        (figures(good=69), [(PRECISION, 0.69, 0.80, True)]),
        (figures(good=0, of=29), []),  # too few labels
        (figures(recall=0.59), [(RECALL, 0.59, 0.60, False)]),
        (figures(recall=0.59, turns=29), []),
        (figures(zero=0.56), [(ZERO, 0.56, 0.55, False)]),
    ],
)
def test_warnings(given: EvaluationFigures, warnings: list[tuple[object, ...]]) -> None:
    found = [each for each in readings_of(given) if each.misses_target]
    assert [(each.figure, each.value, each.limit, each.is_alert) for each in found] == warnings


def test_unknown_figures_have_no_health() -> None:
    empty = EvaluationFigures(Share(0, 0), RecallEstimate(), Share(0, 0), Share(0, 0))
    assert {reading.health for reading in readings_of(empty)} == {RatioHealth.UNKNOWN}
