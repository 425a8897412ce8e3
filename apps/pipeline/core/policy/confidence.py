"""Weights of the confidence formula."""

from pydantic import Field

from apps.pipeline.core.enums import Grounding, SourceConfidence
from apps.pipeline.core.policy.section import PolicySection


class ConfidencePolicy(PolicySection):
    """Weights of the confidence formula (docs/decisions/confidence.md)."""

    source_weight: float = 0.60
    extractor_weight: float = 0.25
    recurrence_weight: float = 0.15
    source: dict[SourceConfidence, float] = {
        SourceConfidence.DIRECT: 1.0,
        SourceConfidence.CONFIRMED: 1.0,
        SourceConfidence.INFERRED: 0.75,
        SourceConfidence.SPECULATED: 0.30,
    }
    grounding: dict[Grounding, float] = {
        Grounding.SUPPORTED: 0.0,
        Grounding.PARTIAL: -0.15,
        Grounding.UNKNOWN: -0.10,
        Grounding.NOT_SUPPORTED: -1.0,
    }
    max_adjustment: float = Field(default=0.2, ge=0, le=1, description="limit of an extractor's own correction")
    not_asserted_cap: float = 0.30
    review_weight: float = Field(
        default=0.60, ge=0, le=1, description="added when a person approves a memory; enough for every level of stakes"
    )
    review_below: float = 0.50
