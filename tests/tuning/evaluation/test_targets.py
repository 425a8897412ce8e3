"""Targets and warnings."""

import pytest

from apps.traces.funnel_metrics import RatioHealth
from apps.tuning.evaluation.figures import (
    EvaluationFigures,
    EvaluationWarning,
    Figure,
    RecallEstimate,
    Share,
    evaluation_warnings,
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
        (figures(good=79), [EvaluationWarning(PRECISION, 0.79, 0.80, is_alert=False)]),
        (figures(good=70), [EvaluationWarning(PRECISION, 0.70, 0.80, is_alert=False)]),
        (figures(good=69), [EvaluationWarning(PRECISION, 0.69, 0.80, is_alert=True)]),
        (figures(good=0, of=29), []),  # too few labels
        (figures(recall=0.59), [EvaluationWarning(RECALL, 0.59, 0.60, is_alert=False)]),
        (figures(recall=0.59, turns=29), []),
        (figures(zero=0.56), [EvaluationWarning(ZERO, 0.56, 0.55, is_alert=False)]),
    ],
)
def test_warnings(given: EvaluationFigures, warnings: list[EvaluationWarning]) -> None:
    assert list(evaluation_warnings(figures=given)) == warnings


def test_unknown_figures_have_no_health() -> None:
    empty = EvaluationFigures(Share(0, 0), RecallEstimate(), Share(0, 0), Share(0, 0))
    assert {reading.health for reading in readings_of(empty)} == {RatioHealth.UNKNOWN}
