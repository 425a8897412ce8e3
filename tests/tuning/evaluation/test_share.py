"""Wilson intervals."""

import pytest

from apps.tuning.evaluation.figures import share_of


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [
        # As published: R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0),
    ],
)
def test_published_intervals(part: int, whole: int, low: float, high: float) -> None:
    share = share_of(part=part, whole=whole)
    assert (share.low, share.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))
    assert share.value == part / whole


def test_nothing_is_known_of_an_empty_whole() -> None:
    share = share_of(part=0, whole=0)
    assert (share.value, share.low, share.high) == (None, None, None)


def test_more_confidence_needs_wider_limits() -> None:
    usual, sure = share_of(part=8, whole=10), share_of(part=8, whole=10, confidence=0.975)
    assert usual.low is not None
    assert usual.high is not None
    assert sure.low is not None
    assert sure.high is not None
    assert sure.low < usual.low < 0.8 < usual.high < sure.high
