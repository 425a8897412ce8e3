"""Decay: whether a memory is archived, from importance, freshness and use."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from apps.pipeline.core.enums import CONSTRAINT, CONVENTION, MemoryType
from apps.pipeline.core.policy import DecayPolicy

_SECONDS_A_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class DecayInput:
    """The values of an active memory that decay depends on."""

    type: MemoryType
    importance: float
    fresh_at: datetime  # when it was said or, if imported later, written
    tags: Collection[str] = ()
    expires_at: datetime | None = None
    last_accessed: datetime | None = None
    access_count: int = 0


def decay_score(*, standing: DecayInput, now: datetime, policy: DecayPolicy) -> float:
    """Return weighted importance, freshness and use: 0 to 1.

    Freshness halves with every half-life of the type since the memory was stated; use is 1 - 2^-n for n accesses, and
    halves in the same way since the last one. Future events are fresh.
    """
    half_life = policy.half_life(standing.type)
    freshness = _halved(standing.fresh_at, now, half_life)
    used = standing.last_accessed
    use = (1 - 0.5**standing.access_count) * _halved(used, now, half_life) if used else 0.0
    score = policy.importance * standing.importance + policy.freshness * freshness + policy.access * use
    return min(1.0, max(0.0, score))


def is_past(*, standing: DecayInput, now: datetime, policy: DecayPolicy) -> bool:
    """Return True if a memory is to be archived because it has expired or decayed; rules set by people never decay."""
    if standing.expires_at is not None and standing.expires_at <= now:
        return True
    if CONSTRAINT in standing.tags or CONVENTION in standing.tags:
        return False
    return decay_score(standing=standing, now=now, policy=policy) < policy.archive_below


def _halved(since: datetime, now: datetime, half_life_days: float) -> float:
    days = max((now - since).total_seconds(), 0.0) / _SECONDS_A_DAY
    result: float = 0.5 ** (days / half_life_days)
    return result
