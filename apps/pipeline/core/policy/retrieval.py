"""Stage 7 and search: indexed questions, weights of ranking, and what may be shown."""

from pydantic import Field

from apps.pipeline.core.enums import Stakes
from apps.pipeline.core.policy.section import PolicySection


class IndexPolicy(PolicySection):
    """Limits of stage 7."""

    questions: int = Field(
        default=3, ge=0, le=20, description="questions per memory that are indexed beside its content"
    )
    model_questions: bool = Field(
        default=True, description="whether the model, if there is one, is asked for these questions"
    )


class RankingWeights(PolicySection):
    """The weight of each kind of evidence in a memory's rank; their sum is 1.

    Tuned on LoCoMo with one memory per turn, where the optimum is flat: docs/decisions/search.md. Importance, recency
    and confidence only order memories of similar relevance.
    """

    words: float = Field(default=0.272, ge=0, description="BM25 of the query's words")
    meaning: float = Field(default=0.238, ge=0, description="cosine of the content's vector")
    questions: float = Field(default=0.051, ge=0, description="best cosine of the questions' vectors")
    session: float = Field(default=0.17, ge=0, description="BM25 of the whole session that said it")
    named: float = Field(default=0.085, ge=0, description="the query names the memory's subject")
    importance: float = Field(default=0.017, ge=0)
    recency: float = Field(default=0.0085, ge=0)
    confidence: float = Field(default=0.0085, ge=0)
    evidence: float = Field(default=0.15, ge=0, description="the absolute score, of the memory's own words and meaning")


# A statement with subject and predicate is complete in itself: its session has no weight, and its own evidence counts
# more than that of a turn (docs/decisions/search.md).
STATEMENT_WEIGHTS = RankingWeights(
    words=0.16,
    meaning=0.14,
    questions=0.12,
    session=0.0,
    named=0.03,
    importance=0.012,
    recency=0.006,
    confidence=0.006,
    evidence=0.526,
)


class RetrievalPolicy(PolicySection):
    """The confidence required at each level of stakes, and the parameters of ranking."""

    least_confidence: dict[Stakes, float] = {Stakes.HIGH: 0.7, Stakes.NORMAL: 0.4, Stakes.LOW: 0.25}
    weights: RankingWeights = Field(default=RankingWeights(), description="of verbatim texts")
    statement_weights: RankingWeights = Field(
        default=STATEMENT_WEIGHTS, description="of memories with subject and predicate"
    )
    context_weight: float = Field(
        default=0.6, ge=0, le=1, description="weight of a word in the source turns, relative to a word in the content"
    )
    neighbour_weight: float = Field(
        default=0.4, ge=0, le=1, description="share of its score that a memory adds to its neighbours in the session"
    )
    saturation: float = Field(default=0.9, gt=0, description="k1 of BM25")
    length_normalisation: float = Field(default=0.75, ge=0, le=1, description="b of BM25")
    others_share: float = Field(
        default=0.6,
        ge=0,
        le=1,
        description="factor for the score of statements about other people than those in the query",
    )
    no_answer_share: float = Field(
        default=0.8,
        ge=0,
        le=1,
        description="factor for the rank of statements without a time, place or number, if the query asks for one",
    )
    recency_half_life_days: float = Field(default=90.0, gt=0)
