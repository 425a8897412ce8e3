"""Stages 4 and 5: comparison of new statements with known memories, and between whose memories it is made."""

from pydantic import ConfigDict, Field

from apps.pipeline.core.agent_scope import AgentScope
from apps.pipeline.core.enums import MemorySharing, Role
from apps.pipeline.core.policy.section import PolicySection


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
