"""Ranking: the evidence for each memory of one end user, normalised, mixed, and taken apart again on request.

Words and vectors disagree in scale, so each kind of evidence is brought to 0…1 over the user's memories before it is
weighted (RankingWeights). A memory also speaks for those said right before and after it in the same session: what
answers a question often lies in the next turn.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.pipeline.core.policy import RankingWeights, RetrievalPolicy
from apps.pipeline.retrieval import bm25
from apps.pipeline.retrieval.bm25 import Floats, Places, Terms, Words

_SECONDS_A_DAY = 86_400.0
# What tells for a memory whatever is asked; without any other evidence it is not a hit.
PRIORS = frozenset({"importance", "recency", "confidence"})


@dataclass(frozen=True, slots=True)
class Sessions:
    """Which memories were said in one session, and in what order: the same whatever is asked."""

    groups: Places  # a number for each memory, the same within a session
    number: int  # of sessions
    order: Places  # session after session, as it was said


@dataclass(frozen=True, slots=True)
class Memories:
    """What is known of the memories that are ranked: one entry a memory in every array, in any order."""

    ids: NDArray[np.uint64]  # UUIDv7 in two halves, so that their order is that of making
    terms: Terms
    context_terms: Terms
    sessions: Sessions
    said_at: Floats  # Unix time
    content_cosine: Floats  # NaN where the vector is still owed
    question_cosine: Floats  # the best one; NaN where the vectors are still owed
    named: NDArray[np.bool_]  # the query names its subject or object
    of_others: NDArray[np.bool_]  # it states something of someone, and the query names only others
    importance: Floats
    confidence: Floats

    def __len__(self) -> int:
        return len(self.said_at)


@dataclass(frozen=True, slots=True)
class Scores:
    """The score of each memory, 0 to 1, and the weighted parts that it is the sum of."""

    parts: Mapping[str, Floats]

    @property
    def total(self) -> Floats:
        """Return the sum of all parts."""
        return _sum(list(self.parts.values()))

    @property
    def relevance(self) -> Floats:
        """Return the sum of the parts that depend on what is asked."""
        return _sum([part for name, part in self.parts.items() if name not in PRIORS])


def sessions_of(*, ids: NDArray[np.uint64], sessions: NDArray[np.uint64], said_at: Floats) -> Sessions:
    """Return the sessions of memories; `sessions` are equal within one, and a memory without one has its own number."""
    found, groups = np.unique(sessions, return_inverse=True)
    return Sessions(groups=groups, number=len(found), order=np.lexsort((*_made(ids), said_at, groups)))


def rank(*, memories: Memories, query: Words, now: float, policy: RetrievalPolicy) -> Scores:
    """Score every memory for the words of a query; `now` is Unix time.

    Without words, vectors and names only the priors are left.
    """
    groups, order = memories.sessions.groups, memories.sessions.order
    content = bm25.count(terms=memories.terms, query=query)
    context = bm25.count(terms=memories.context_terms, query=query)
    words = bm25.blend(content=content, context=context, weight=policy.context_weight)
    heard = bm25.gather(counted=content, groups=groups, number=memories.sessions.number)
    evidence = {
        "words": over_maximum(with_neighbours(_bm25(words, policy), groups, order, policy.neighbour_weight)),
        "meaning": _similarity(memories.content_cosine, groups, order, policy),
        "questions": _similarity(memories.question_cosine, groups, order, policy),
        "session": over_maximum(_bm25(heard, policy))[groups],
        "named": memories.named.astype(np.float64),
        "importance": memories.importance,
        "recency": recency(memories.said_at, now=now, half_life_days=policy.recency_half_life_days),
        "confidence": memories.confidence,
    }
    return Scores(parts=_aside(_weighted(evidence, policy.weights), memories.of_others, policy.others_share))


def best(
    *, scores: Scores, memories: Memories, eligible: NDArray[np.bool_], limit: int, is_blank: bool = False
) -> Places:
    """Return the places of the best eligible memories, best first; of equals the one said last.

    A memory that nothing but the priors speaks for is left out, unless the query `is_blank`.
    """
    wanted = np.flatnonzero(eligible if is_blank else eligible & (scores.relevance > 0))
    total = scores.total.round(9)
    if len(wanted) > limit:  # only those as good as the last that fits have to be put in order
        wanted = wanted[total[wanted] >= np.partition(total[wanted], -limit)[-limit]]
    ascending = np.lexsort([key[wanted] for key in (*_made(memories.ids), memories.said_at, total)])
    result: Places = wanted[ascending][::-1][:limit]
    return result


def over_maximum(values: Floats) -> Floats:
    """Scale values that are at least 0 so that the highest is 1; all zeros stay zeros."""
    highest = values.max(initial=0.0)
    result: Floats = values / highest if highest > 0 else np.zeros_like(values)
    return result


def over_range(values: Floats) -> Floats:
    """Scale values to 0…1, the unknown (NaN) like the lowest; where all are equal, those over 0 become 1."""
    known = values[~np.isnan(values)]
    if not known.size:
        return np.zeros_like(values)
    lowest, highest = known.min(), known.max()
    if highest > lowest:
        scaled: Floats = np.nan_to_num((values - lowest) / (highest - lowest), nan=0.0)
        return scaled
    return np.where(np.isnan(values) | (values <= 0), 0.0, 1.0)


def with_neighbours(values: Floats, groups: Places, order: Places, weight: float) -> Floats:
    """Add to each value `weight` of the one before and the one after it in `order`, within its group."""
    ordered = values[order]
    together = groups[order][1:] == groups[order][:-1]
    lent = np.zeros_like(ordered)
    lent[1:] += np.where(together, ordered[:-1], 0.0)
    lent[:-1] += np.where(together, ordered[1:], 0.0)
    result = values.copy()
    result[order] += weight * lent
    return result


def recency(said_at: Floats, *, now: float, half_life_days: float) -> Floats:
    """Return 1 for what was said now, halved with every half-life."""
    days = np.maximum(now - said_at, 0.0) / _SECONDS_A_DAY
    result: Floats = 0.5 ** (days / half_life_days)
    return result


def _made(ids: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the sort keys for the order of making, the weaker one first as lexsort wants it."""
    return ids[:, 1], ids[:, 0]


def _similarity(cosine: Floats, groups: Places, order: Places, policy: RetrievalPolicy) -> Floats:
    """Scale cosines; a neighbour lends what it has over the average, so that to have none is neither good nor bad."""
    scaled = over_range(cosine)
    lent = with_neighbours(scaled - scaled.mean(), groups, order, policy.neighbour_weight) if len(scaled) else scaled
    return np.where(np.isnan(cosine), 0.0, over_range(lent))


def _bm25(counted: bm25.Counted, policy: RetrievalPolicy) -> Floats:
    return bm25.score(counted=counted, saturation=policy.saturation, length_normalisation=policy.length_normalisation)


def _weighted(evidence: Mapping[str, Floats], weights: RankingWeights) -> dict[str, Floats]:
    return {name: getattr(weights, name) * values for name, values in evidence.items()}


def _aside(parts: Mapping[str, Floats], of_others: NDArray[np.bool_], share: float) -> dict[str, Floats]:
    """Leave memories of others than the query names a share of their score: the same words, of someone else."""
    factors = np.where(of_others, share, 1.0)
    return {name: factors * values for name, values in parts.items()}


def _sum(parts: list[Floats]) -> Floats:
    result: Floats = np.sum(parts, axis=0)
    return result
