"""Stage 3: limits of resolution, and further predicates."""

from pydantic import Field

from apps.pipeline.core.policy.section import PolicySection


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
