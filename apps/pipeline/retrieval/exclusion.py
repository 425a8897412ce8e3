"""Why a memory is no result of a search, by the conditions of the search."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from apps.pipeline.core.enums import Status
from apps.pipeline.retrieval.bm25 import Places
from apps.pipeline.retrieval.ranking import Scores


class Exclusion(StrEnum):
    """The first condition that a memory does not meet; the first five keep it from being scored."""

    OTHER_AGENT = "other_agent"  # told by another agent than the one that asks, or private to one
    STATUS = "status"
    EXPIRED = "expired"
    NOT_YET_VALID = "not_yet_valid"
    NO_LONGER_VALID = "no_longer_valid"
    CONFIDENCE = "confidence"  # lower than the stakes require
    UNRELATED = "unrelated"  # nothing in common with the query
    MIN_SCORE = "min_score"
    LIMIT = "limit"  # others are better


@dataclass(frozen=True, slots=True)
class SearchStanding:
    """The values of a memory that decide whether it is scored."""

    status: Status
    is_told: bool  # to the agent that asks
    valid_from: datetime
    valid_until: datetime | None = None
    expires_at: datetime | None = None


def exclusion_from_scoring(*, memory: SearchStanding, shown: frozenset[Status], moment: datetime) -> Exclusion:
    """Return why a memory is not scored at a moment; it is known not to be."""
    if not memory.is_told:
        return Exclusion.OTHER_AGENT
    if memory.status not in shown:
        return Exclusion.STATUS
    if memory.expires_at is not None and memory.expires_at <= moment:
        return Exclusion.EXPIRED
    if memory.valid_until is not None and memory.valid_until <= moment:
        return Exclusion.NO_LONGER_VALID
    return Exclusion.NOT_YET_VALID


def exclusions(
    *, scores: Scores, eligible: NDArray[np.bool_], found: Places, min_score: float, is_blank: bool
) -> NDArray[np.str_]:
    """Return the Exclusion of each scored memory; "" for those in `found`, which are the results."""
    is_found = np.zeros_like(eligible)
    is_found[found] = True
    is_unrelated = np.zeros_like(eligible) if is_blank else scores.relevance <= 0
    is_below = np.zeros_like(eligible) if is_blank else scores.score < min_score
    reasons = [Exclusion.CONFIDENCE.value, Exclusion.UNRELATED.value, Exclusion.MIN_SCORE.value]
    result: NDArray[np.str_] = np.select(
        [is_found, ~eligible, is_unrelated, is_below], ["", *reasons], default=Exclusion.LIMIT.value
    )
    return result
