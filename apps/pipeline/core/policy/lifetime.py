"""How long memories stay visible, and how long other data is stored."""

from pydantic import Field, field_validator

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.policy.section import PolicySection
from apps.pipeline.core.type_traits import TYPE_TRAITS


class DecayPolicy(PolicySection):
    """When memories that are not important, not fresh and not used are archived (apps/pipeline/retrieval/decay.py).

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
    trace_days: int = Field(default=0, ge=0, le=36_500, description="stages, outcomes and plans of traces")
    model_call_days: int = Field(default=0, ge=0, le=36_500, description="answers and costs of model calls")
    alert_days: int = Field(default=365, ge=0, le=36_500, description="resolved alerts with their messages")
    ledger_days: int = Field(default=0, ge=0, le=36_500, description=f"entries; at least {LEAST_LEDGER_DAYS}, or 0")

    @field_validator("ledger_days")
    @classmethod
    def _long_enough(cls, days: int) -> int:
        if 0 < days < LEAST_LEDGER_DAYS:
            raise ValueError(f"must be 0 or at least {LEAST_LEDGER_DAYS}")
        return days
