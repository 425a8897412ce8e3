"""Stage 2: extractor, model and limits of extraction."""

from pydantic import Field

from apps.pipeline.core.enums import Batching, ExtractorKind, OnModelFailure
from apps.pipeline.core.policy.section import PolicySection


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
    max_recent_memories: int = Field(
        default=24,
        ge=0,
        le=200,
        description="known memories listed in the prompt, so that they are not extracted again",
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
    max_session_memories: int = Field(
        default=200, ge=0, le=1_000, description="latest memories read for the review of a whole session"
    )
    session_memory_days: int = Field(
        default=90, ge=1, description="days after which an arc or goal found in a session is no longer current"
    )
    max_answer_tokens: int = Field(default=4_096, ge=256, le=32_000)
    max_turn_characters: int = Field(default=2_000, ge=1, le=20_000)
    pattern_reliability: float = Field(default=0.80, ge=0, le=1)
    # Speculated statements must stay at 0.40 or below: 0.60·0.30 + 0.25·r, so r may be 0.88 at most.
    model_reliability: float = Field(default=0.85, ge=0, le=1)
