"""The pattern extractor: typed rows over third-person statements, without a model."""

from collections.abc import Sequence

from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.statement import Candidate
from apps.pipeline.core.turn import SourceTurn


def extract(*, turn: SourceTurn, policy: ExtractionPolicy, before: Sequence[SourceTurn] = ()) -> tuple[Candidate, ...]:
    """Return the candidates that the patterns find in one turn, as `extractor.extract` describes.

    The patterns are compiled at the first call: that takes a third of a second, which most commands don't need to spend.
    """
    from apps.pipeline.extraction.patterns import extractor

    return extractor.extract(turn=turn, policy=policy, before=before)
