"""Policy: every rule, threshold, weight and limit of one configuration version, frozen and JSON-ready."""

from apps.pipeline.core.policy.comparison import (
    ConflictPolicy,
    DedupePolicy,
    JudgePolicy,
    SharingPolicy,
    SimilarityBand,
)
from apps.pipeline.core.policy.confidence import ConfidencePolicy
from apps.pipeline.core.policy.extraction import ExtractionPolicy
from apps.pipeline.core.policy.lifetime import LEAST_LEDGER_DAYS, DecayPolicy, RetentionPolicy
from apps.pipeline.core.policy.pre_filter import MOST_REPEAT_WINDOW, PreFilterPolicy, Rule
from apps.pipeline.core.policy.redaction import CustomRedaction, RedactionPolicy
from apps.pipeline.core.policy.resolution import KnownPredicate, ResolutionPolicy
from apps.pipeline.core.policy.retrieval import STATEMENT_WEIGHTS, IndexPolicy, RankingWeights, RetrievalPolicy
from apps.pipeline.core.policy.section import PolicySection

__all__ = [
    "LEAST_LEDGER_DAYS",
    "MOST_REPEAT_WINDOW",
    "STATEMENT_WEIGHTS",
    "ConfidencePolicy",
    "ConflictPolicy",
    "CustomRedaction",
    "DecayPolicy",
    "DedupePolicy",
    "ExtractionPolicy",
    "IndexPolicy",
    "JudgePolicy",
    "KnownPredicate",
    "Policy",
    "PreFilterPolicy",
    "RankingWeights",
    "RedactionPolicy",
    "ResolutionPolicy",
    "RetentionPolicy",
    "RetrievalPolicy",
    "Rule",
    "SharingPolicy",
    "SimilarityBand",
]


class Policy(PolicySection):
    """One configuration version's settings; two equal policies decide equally."""

    pre_filter: PreFilterPolicy = PreFilterPolicy()
    redaction: RedactionPolicy = RedactionPolicy()
    extraction: ExtractionPolicy = ExtractionPolicy()
    resolution: ResolutionPolicy = ResolutionPolicy()
    dedupe: DedupePolicy = DedupePolicy()
    conflict: ConflictPolicy = ConflictPolicy()
    judges: JudgePolicy = JudgePolicy()
    sharing: SharingPolicy = SharingPolicy()
    confidence: ConfidencePolicy = ConfidencePolicy()
    index: IndexPolicy = IndexPolicy()
    retrieval: RetrievalPolicy = RetrievalPolicy()
    decay: DecayPolicy = DecayPolicy()
    retention: RetentionPolicy = RetentionPolicy()
