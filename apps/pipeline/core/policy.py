"""Policy: every rule, threshold, weight and limit of one configuration version, frozen and JSON-ready."""

import re2
from pydantic import BaseModel, ConfigDict, Field, field_validator

from apps.pipeline.core.agent_scope import AgentScope
from apps.pipeline.core.enums import (
    Batching,
    ExtractorKind,
    Grounding,
    Handling,
    MemorySharing,
    MemoryType,
    OnModelFailure,
    Reason,
    Role,
    SensitiveKind,
    SourceConfidence,
    Stakes,
)
from apps.pipeline.core.type_traits import TYPE_TRAITS


class PolicySection(BaseModel):
    """A frozen section of a policy; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


_SPEAKERS = frozenset({Role.USER, Role.ASSISTANT})
MOST_REPEAT_WINDOW = 10  # the number of earlier turns that intake reads


class Rule(PolicySection):
    """A pre-filter rule: turns of `roles` that match `pattern` (RE2) are dropped for `reason`.

    A rule with `phrase` is an interjection ("ok", "thank you"): it drops only turns that consist of such phrases. Any
    other pattern may match anywhere unless anchored.
    """

    name: str = Field(pattern=r"^[a-z0-9_]{1,64}$")
    reason: Reason
    pattern: str = Field(min_length=1, max_length=2_000)
    phrase: bool = False
    roles: tuple[Role, ...] = (Role.USER,)
    languages: tuple[str, ...] = ()
    enabled: bool = True
    order: int = 100
    # The rule doesn't apply to answers ("yes", "sure") to a question in the turn before.
    unless_answering: bool = False


class PreFilterPolicy(PolicySection):
    """Limits of stage 1."""

    rules: tuple[Rule, ...] = ()
    trusted_roles: tuple[Role, ...] = (Role.USER,)
    min_letters: int = Field(default=2, ge=0, description="turns with fewer letters or digits are dropped as too_short")
    repeat_window: int = Field(
        default=6, ge=0, le=MOST_REPEAT_WINDOW, description="number of previous turns that are checked for a repeat"
    )
    scan_characters: int = Field(
        default=4_000, ge=100, le=20_000, description="rules only see this many characters of a turn"
    )

    @field_validator("trusted_roles")
    @classmethod
    def _check_roles(cls, roles: tuple[Role, ...]) -> tuple[Role, ...]:
        """Refuse roles other than speakers: the output of tools and system prompts are no statements of the user."""
        if not set(roles) <= _SPEAKERS:
            raise ValueError("tool and system can't be trusted as speakers")
        return roles

    def __hash__(self) -> int:
        """Hash a few fields only, because compiled rules are looked up by policy for each request."""
        return hash((len(self.rules), self.min_letters, self.repeat_window, self.scan_characters))


class CustomRedaction(PolicySection):
    """Data defined by a project: matches of `pattern` (RE2) are masked as [custom:name]."""

    name: str = Field(pattern=r"^[a-z0-9_]{1,40}$")
    pattern: str = Field(min_length=1, max_length=500)

    @field_validator("pattern")
    @classmethod
    def _check_pattern(cls, pattern: str) -> str:
        """Refuse patterns that RE2 can't compile or that match the empty text."""
        options = re2.Options()
        options.log_errors = False
        try:
            compiled = re2.compile(pattern, options)
        except re2.error as refused:
            raise ValueError(f"is not a pattern that RE2 takes: {refused}") from refused
        if compiled.search(""):
            raise ValueError("must not match the empty text")
        return pattern


class RedactionPolicy(PolicySection):
    """Handling of sensitive data before a text is stored or shown to a model (docs/decisions/redaction.md)."""

    secret: Handling = Field(default=Handling.MASK, description="passwords, keys, tokens, codes, account numbers")
    card: Handling = Field(default=Handling.MASK, description="payment card numbers")
    iban: Handling = Handling.MASK
    national_id: Handling = Field(default=Handling.MASK, description="social security, tax and passport numbers")
    phone: Handling = Handling.KEEP
    email: Handling = Handling.KEEP
    items: bool = Field(default=True, description="values of items too; without it they are kept as they are")
    phone_regions: tuple[str, ...] = Field(
        default=("US", "GB", "DE", "FR"), max_length=10, description="whose national phone numbers are recognised"
    )
    custom: tuple[CustomRedaction, ...] = Field(
        default=(), max_length=50, description='JSON: [{"name": …, "pattern": an RE2 expression}]'
    )

    def handling(self, kind: SensitiveKind) -> Handling:
        """Return the handling of a kind; data defined by a project is masked."""
        return Handling.MASK if kind is SensitiveKind.CUSTOM else getattr(self, kind)


class ExtractionPolicy(PolicySection):
    """Limits of stage 2.

    `model` and `stacked` run as `plain` if no model is configured.
    """

    extractor: ExtractorKind = ExtractorKind.MODEL
    model: str = Field(default="", max_length=120, description="provider:name; empty means the model of the server")
    on_model_failure: OnModelFailure = OnModelFailure.RETRY
    batching: Batching = Field(
        default=Batching.BALANCED,
        description="eager: for each request; balanced: after a pause, or when enough turns wait; "
        "thrifty: at the end of the session. Callers who wait for the outcome never wait for it",
    )
    # Above a minute, so that exchanges a minute apart share a call.
    batch_quiet_seconds: int = Field(
        default=70, ge=1, le=3_600, description="balanced: ask the model when a session was quiet for this long"
    )
    batch_turns: int = Field(default=8, ge=1, le=100, description="balanced: ask the model when so many turns wait")
    skip_idle_turns: bool = Field(
        default=True, description="don't call a model for turns with nothing but questions, thanks and praise"
    )
    min_confidence: float = Field(default=0.25, ge=0, le=1)
    max_per_turn: int = Field(default=5, ge=1, le=50)
    max_per_call: int = Field(
        default=40, ge=1, le=200, description="candidates per model call, for each request in the call"
    )
    max_turns: int = Field(default=20, ge=1, le=100, description="turns per model call")
    context_turns: int = Field(
        default=6, ge=0, le=50, description="previous turns included as context if there is room"
    )
    max_entities: int = Field(default=30, ge=0, le=1_000, description="known entities listed in the prompt")
    max_known_tokens: int = Field(
        default=2_500, ge=0, le=20_000, description="estimated tokens of the known memories listed in a prompt"
    )
    min_session_turns: int = Field(
        default=6, ge=1, description="a session with fewer turns of the user is not reviewed as a whole"
    )
    review_seen_sessions: bool = Field(
        default=False, description="review a session as a whole even if one call has seen all of its turns"
    )
    max_per_session: int = Field(default=5, ge=1, le=50, description="candidates from the review of a whole session")
    max_session_turns: int = Field(
        default=200, ge=1, le=1_000, description="latest turns included in the review of a whole session"
    )
    max_session_turn_characters: int = Field(default=500, ge=1, le=20_000)
    session_memory_days: int = Field(
        default=90, ge=1, description="days after which an arc or goal found in a session is no longer current"
    )
    max_answer_tokens: int = Field(default=4_096, ge=256, le=32_000)
    max_turn_characters: int = Field(default=2_000, ge=1, le=20_000)
    pattern_reliability: float = Field(default=0.80, ge=0, le=1)
    # Speculated statements must stay at 0.40 or below: 0.60·0.30 + 0.25·r, so r may be 0.88 at most.
    model_reliability: float = Field(default=0.85, ge=0, le=1)


class KnownPredicate(PolicySection):
    """A predicate that an admin adds to the built-in ones, or corrects."""

    stateful: bool = Field(default=False, description="holds one true value at a time")
    synonyms: tuple[str, ...] = Field(default=(), description="other names for the same predicate")


class ResolutionPolicy(PolicySection):
    """Limits of stage 3; similarities are rapidfuzz ratios from 0 to 100."""

    max_entities: int = Field(default=200, ge=1, le=1_000)
    fuzzy_accept: float = Field(default=92.0, ge=0, le=100)
    fuzzy_margin: float = Field(default=5.0, ge=0, le=100)
    predicates: dict[str, KnownPredicate] = Field(default={}, description="in addition to the built-in predicates")


class SimilarityBand(PolicySection):
    """The limit of one embedder, calibrated on labelled pairs by `manage.py calibrate`."""

    model_config = ConfigDict(frozen=True, extra="ignore")  # stored versions may have limits that are gone

    unsure: float = Field(
        ge=-1,
        le=1,
        description="from this similarity on, a judge or a person decides whether two sentences say the same",
    )


class DedupePolicy(PolicySection):
    """Limits of stage 4; a band belongs to an embedder."""

    bands: dict[str, SimilarityBand] = {"wordllama": SimilarityBand(unsure=0.60)}
    fallback_band: SimilarityBand = SimilarityBand(unsure=0.92)
    neighbours: int = Field(default=5, ge=1, le=50)

    def band(self, *, embedder: str) -> SimilarityBand:
        """Return the band of an embedder, or the cautious fallback."""
        return self.bands.get(embedder, self.fallback_band)


class JudgePolicy(PolicySection):
    """When a model decides cases that the rules leave open: one call per request, and up to two for references."""

    references: bool = True
    pairs: bool = True
    most_questions: int = Field(
        default=10, ge=1, le=40, description="questions per model call; further ones stay undecided"
    )
    gate: float = Field(
        default=0.80,
        ge=-1,
        le=1,
        description="minimum similarity of a new statement and one that the model did not see",
    )
    shown_gate: float = Field(
        default=0.80, ge=-1, le=1, description="minimum similarity of a new statement and one that the model did see"
    )


class ConflictPolicy(PolicySection):
    """Limits of stage 5."""

    confidence_slack: float = Field(
        default=0.15, ge=0, le=1, description="a newer value may have this much less confidence and still supersede"
    )
    trust: dict[Role, int] = {Role.USER: 3, Role.ASSISTANT: 1, Role.TOOL: 1, Role.SYSTEM: 2}


class SharingPolicy(PolicySection):
    """Whether the agents of a user share what they tell of the user; a change holds for what is told from then on."""

    memory_sharing: MemorySharing = Field(
        default=MemorySharing.SHARED,
        description="with by_agent, what is told with an agent_id is private to that agent",
    )

    def private_to(self, scope: AgentScope) -> str:
        """Return the agent that alone is told what is told in a scope; empty where all agents of the user are."""
        return scope.agent_id if self.memory_sharing is MemorySharing.BY_AGENT else ""


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
    uncertain_cap: float = Field(default=0.55, ge=0, le=1, description="of what a person keeps as uncertain")
    confirmed_cap: float = Field(
        default=0.75, ge=0, le=1, description="of what the user did not assert and a person has confirmed"
    )
    review_weight: float = Field(
        default=0.60, ge=0, le=1, description="added when a person approves a memory; enough for every level of stakes"
    )
    review_below: float = 0.50


class IndexPolicy(PolicySection):
    """Limits of stage 7."""

    questions: int = Field(
        default=3,
        ge=0,
        le=20,
        description="questions per memory that are indexed beside its content; search reads four",
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
    min_score: float = Field(
        default=0.115,
        ge=0,
        le=1,
        description="results with a lower score are left out, unless a request says otherwise",
    )
    weights: RankingWeights = Field(default=RankingWeights(), description="of verbatim texts")
    statement_weights: RankingWeights = Field(
        default=STATEMENT_WEIGHTS, description="of memories with subject and predicate"
    )
    context_weight: float = Field(
        default=0.6,
        ge=0,
        le=1,
        description="weight of a word in the source turns or a model's questions, relative to one in the content",
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


class DecayPolicy(PolicySection):
    """When memories that are not important, not fresh and not used are archived (apps/memories/services/lifecycle.py).

    The sum of the three weights is 1. With the defaults, importance 0.5 is never archived, and 0.3 after about two
    half-lives without use.
    """

    importance: float = Field(default=0.45, ge=0, le=1)
    freshness: float = Field(default=0.35, ge=0, le=1)
    access: float = Field(default=0.20, ge=0, le=1)
    half_life_days: dict[MemoryType, float] = {type: traits.half_life_days for type, traits in TYPE_TRAITS.items()}
    archive_below: float = Field(
        default=0.22, ge=0, le=1, description="memories with a lower value are archived; 0 archives nothing"
    )

    def half_life(self, type: MemoryType) -> float:
        """Return the half-life of a type in days; configuration versions that are older than the type lack it."""
        return self.half_life_days.get(type, TYPE_TRAITS[type].half_life_days)


LEAST_LEDGER_DAYS = 30  # the database refuses to remove younger entries


class RetentionPolicy(PolicySection):
    """After how many days stored data is deleted; 0 means never. Memories stay until they are erased."""

    turn_days: int = Field(default=0, ge=0, le=36_500, description="texts of turns; quotes in memories stay")
    trace_days: int = Field(default=90, ge=0, le=36_500, description="stages, outcomes and plans of traces")
    model_call_days: int = Field(default=90, ge=0, le=36_500, description="answers and costs of model calls")
    alert_days: int = Field(default=365, ge=0, le=36_500, description="resolved alerts with their messages")
    ledger_days: int = Field(
        default=0, ge=0, le=36_500, description=f"0, or at least {LEAST_LEDGER_DAYS} with LEDGER_ARCHIVE"
    )

    @field_validator("ledger_days")
    @classmethod
    def _long_enough(cls, days: int) -> int:
        if 0 < days < LEAST_LEDGER_DAYS:
            raise ValueError(f"must be 0 or at least {LEAST_LEDGER_DAYS}")
        return days


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
