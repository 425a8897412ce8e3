"""Cohen's kappa."""

import pytest

from apps.pipeline.core.enums import LabelValue
from apps.tuning.evaluation.figures import Agreement, agreement_of, cohens_kappa

GOOD, UNTRUE, USELESS = LabelValue.GOOD, LabelValue.UNTRUE, LabelValue.USELESS


@pytest.mark.parametrize(
    ("both_good", "first_only", "second_only", "both_bad", "kappa"),
    [
        (20, 5, 10, 15, 0.4),  # po = .7, pe = .5
        (45, 15, 25, 15, 0.1304),  # po = .6, pe = .54
        (25, 35, 5, 35, 0.2593),  # po = .6, pe = .46
        (5, 0, 0, 5, 1.0),
        (0, 5, 5, 0, -1.0),
        (9, 0, 0, 0, None),  # everything is good for both: chance alone agrees as well
        (0, 0, 0, 0, None),
    ],
)
def test_kappa(both_good: int, first_only: int, second_only: int, both_bad: int, kappa: float | None) -> None:
    pairs = [
        *[(GOOD, GOOD)] * both_good,
        *[(GOOD, UNTRUE)] * first_only,
        *[(UNTRUE, GOOD)] * second_only,
        *[(UNTRUE, UNTRUE)] * both_bad,
    ]
    assert cohens_kappa(pairs) == (None if kappa is None else pytest.approx(kappa, abs=5e-5))


def test_the_two_labellers_who_share_most_are_compared() -> None:
    items = [
        [("ben", GOOD), ("ana", GOOD)],
        [("ana", UNTRUE), ("ben", USELESS)],
        [("ana", GOOD), ("cem", GOOD)],
        [("cem", GOOD)],
        [("cem", GOOD)],
    ]
    assert agreement_of(items) == Agreement(("ana", "ben"), 2, pytest.approx(1 / 3))


def test_nobody_agrees_with_himself() -> None:
    assert agreement_of([[("ana", GOOD)], [("ben", UNTRUE)], []]) is None
