"""Calibration finds the cosines at which paraphrases merge and nothing else does."""

import pytest

from apps.common.errors import Unfit
from apps.pipeline.core.policy import SimilarityBand
from apps.tuning.calibrate import (
    LabelledPair,
    PairLabel,
    ScoredPair,
    best_band,
    measure,
)

ONE = "User paints landscapes at dawn."


def scored(two: str, label: PairLabel, *, cosine: float) -> ScoredPair:
    return ScoredPair(pair=LabelledPair(one=ONE, two=two, label=label), cosine=cosine)


def paraphrase(cosine: float) -> ScoredPair:
    return scored("User paints moody landscapes at dawn.", PairLabel.PARAPHRASE, cosine=cosine)


def near_miss(cosine: float) -> ScoredPair:
    return scored("User paints landscapes at dawn by lamp.", PairLabel.NEAR_MISS, cosine=cosine)


def test_few_paraphrases_are_kept_apart() -> None:
    found = best_band([*(paraphrase(0.01 * place) for place in range(80, 100)), near_miss(0.93)])
    assert (found.band.unsure, found.different_share) == (0.82, 0.1)
    assert found.merged_wrongly == 0
    assert found.flagged_wrongly == 1


def test_a_band_is_measured_by_what_it_does() -> None:
    pairs = [
        scored("User really paints landscapes at dawn.", PairLabel.PARAPHRASE, cosine=0.95),
        paraphrase(0.85),
        scored("User does watercolours early.", PairLabel.PARAPHRASE, cosine=0.50),
        scored("User naps.", PairLabel.UNRELATED, cosine=0.1),
    ]
    measured = measure(pairs, band=SimilarityBand(unsure=0.80))
    assert (measured.merged_share, measured.unsure_share, measured.different_share) == (0.3333, 0.3333, 0.3333)
    assert (measured.merged_wrongly, measured.flagged_wrongly) == (0, 0)


@pytest.mark.parametrize("pairs", [[], [paraphrase(0.9)], [near_miss(0.9)]])
def test_both_kinds_of_pairs_are_needed(pairs: list[ScoredPair]) -> None:
    with pytest.raises(Unfit, match="both needed"):
        best_band(pairs)
