"""Calibration: find the band of an embedder that merges no near-miss and separates few paraphrases."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from apps.pipeline.core.policy import SimilarityBand
from apps.pipeline.deduplication.labelled_pairs import PairLabel, ScoredPair
from apps.pipeline.deduplication.matching import MatchVerdict

MARGIN = 0.02  # distance to the most similar pair that must not merge, for the sake of unlabelled pairs
MOST_TOLD_DIFFERENT = 0.10  # share of paraphrases that may be kept apart; the others go to the judge or a person
# Lower values are not tried: labelled pairs are few, and a wrong merge loses a statement for good.
_MERGING = [place / 100 for place in range(86, 101, 2)]
_REST_MERGING = [place / 100 for place in range(65, 101, 5)]
_UNSURE = (0.90, 0.85, 0.80, 0.75, 0.70, 0.65, 0.60)
_REST_UNSURE = (0.40, 0.30, 0.25, 0.20, 0.15, 0.10, 0.05, 0.0)
_NEAR = (1.0, 0.95, 0.92, 0.90, 0.85)


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A band, and its results on the pairs that it was calibrated on."""

    band: SimilarityBand
    merged_wrongly: int
    merged_share: float  # of the paraphrases
    unsure_share: float
    different_share: float
    flagged_wrongly: int  # near-misses and unrelated pairs that would go to a judge


def calibrate(pairs: Sequence[ScoredPair]) -> Calibrated:
    """Find the band: first the limits for merging, then the highest lower limit that keeps few paraphrases apart.

    Raises ValueError unless there are both paraphrases and other pairs.
    """
    if not {pair.pair.label for pair in pairs} - {PairLabel.PARAPHRASE} or not _paraphrases(pairs):
        raise ValueError("pairs that say the same and pairs that don't are both needed")
    merging = _merging(pairs)
    gates = [
        measure(pairs, band=merging.model_copy(update={"unsure": unsure, "residual_unsure": residual, "near": near}))
        for unsure, residual, near in product(_UNSURE, _REST_UNSURE, _NEAR)
        if unsure <= merging.same and residual <= merging.residual_same
    ]
    few = [gate for gate in gates if gate.different_share <= MOST_TOLD_DIFFERENT]
    if not few:
        return min(gates, key=lambda gate: (gate.different_share, gate.flagged_wrongly))
    return min(few, key=lambda gate: (gate.flagged_wrongly, gate.unsure_share))


def measure(pairs: Sequence[ScoredPair], *, band: SimilarityBand) -> Calibrated:
    """Count the results of a band on labelled pairs."""
    verdicts = Counter((pair.pair.label is PairLabel.PARAPHRASE, pair.judged(band).verdict) for pair in pairs)
    total = max(1, len(_paraphrases(pairs)))
    return Calibrated(
        band=band,
        merged_wrongly=verdicts[False, MatchVerdict.SAME],
        merged_share=round(verdicts[True, MatchVerdict.SAME] / total, 4),
        unsure_share=round(verdicts[True, MatchVerdict.UNSURE] / total, 4),
        different_share=round(verdicts[True, MatchVerdict.DIFFERENT] / total, 4),
        flagged_wrongly=verdicts[False, MatchVerdict.UNSURE],
    )


def _paraphrases(pairs: Iterable[ScoredPair]) -> list[ScoredPair]:
    return [pair for pair in pairs if pair.pair.label is PairLabel.PARAPHRASE]


def _merging(pairs: Sequence[ScoredPair]) -> SimilarityBand:
    """Return the lowest cosines at which no pair merges that must not, with a margin."""
    strict = SimilarityBand(same=1.0, unsure=0.0, residual_same=1.0, residual_unsure=-1.0, near=-1.0)
    same = _least(pairs, [strict.model_copy(update={"same": value}) for value in _MERGING])
    residual = _least(pairs, [strict.model_copy(update={"residual_same": value}) for value in _REST_MERGING])
    return strict.model_copy(
        update={
            "same": round(min(1.0, same.same + MARGIN), 2),
            "residual_same": round(min(1.0, residual.residual_same + MARGIN), 2),
        }
    )


def _least(pairs: Sequence[ScoredPair], bands: Sequence[SimilarityBand]) -> SimilarityBand:
    others = [pair for pair in pairs if pair.pair.label is not PairLabel.PARAPHRASE]
    harmless = (band for band in bands if not any(pair.judged(band).verdict is MatchVerdict.SAME for pair in others))
    return next(harmless, bands[-1])
