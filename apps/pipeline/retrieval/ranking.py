"""Ranking: an absolute score for each memory of one end user, and a rank relative to the others.

The score is absolute: how much of the query's words and meaning the memory itself contains. It is 0 for unrelated
memories and comparable between queries, so that a caller can set a threshold.

The rank decides the order. Most of it is relative: words and vectors differ in scale, so each kind of evidence is
scaled to 0…1 over the user's memories before it is weighted (RankingWeights). Verbatim texts also support their
neighbours in the same session, because the answer to a question is often in the next turn. A statement has a subject,
and a predicate or a quote. It is complete in itself: it gets nothing from its neighbours and has its own weights
(RetrievalPolicy.statement_weights).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.retrieval import bm25
from apps.pipeline.retrieval.bm25 import Floats, Places, Terms, Words

_SECONDS_A_DAY = 86_400.0
# Evidence that does not depend on the query; a memory with nothing else is not a hit.
PRIORS = frozenset({"importance", "recency", "confidence"})


@dataclass(frozen=True, slots=True)
class Sessions:
    """The sessions and the order in which memories were said; independent of the query."""

    groups: Places  # a number for each memory, the same within a session
    number: int  # of sessions
    order: Places  # indexes of memories, by session and time


@dataclass(frozen=True, slots=True)
class Memories:
    """The input of ranking: one entry per memory in every array, in any order."""

    ids: NDArray[np.uint64]  # UUIDv7 in two halves, whose order is that of creation
    terms: Terms
    context_terms: Terms
    sessions: Sessions
    said_at: Floats  # Unix time
    content_cosine: Floats  # NaN if the vector is not computed yet
    question_cosine: Floats  # the best one; NaN if the vectors are not computed yet
    named: NDArray[np.bool_]  # the query names its subject or object
    are_statements: NDArray[np.bool_]  # complete without their session
    of_others: NDArray[np.bool_]  # it is a statement about someone, and the query names only others
    lacks_answer: NDArray[np.bool_]  # the query asks when, where or how many, which its sentence doesn't say
    importance: Floats
    confidence: Floats

    def __len__(self) -> int:
        return len(self.said_at)


@dataclass(frozen=True, slots=True)
class WordMatches:
    """How well the words of a query match each memory."""

    scores: Floats  # BM25 of its content and context
    coverage: Floats  # the share of the query's words that it has, 0 to 1
    in_sessions: Floats  # BM25 of each session as one text


@dataclass(frozen=True, slots=True)
class Scores:
    """The relevance of each memory to the query, and what it is made of; all 0 to 1."""

    rank: Floats  # the sum of all parts, which orders the memories
    relevance: Floats  # the sum of the parts that depend on the query
    score: Floats  # the absolute evidence: words and meaning combined as independent probabilities
    evidence: Mapping[str, Floats]  # words, meaning and questions: the parts of the score
    kinds: Mapping[str, Floats]  # each kind of evidence before it is weighted
    weights: Mapping[str, tuple[float, float]]  # of each kind for verbatim texts and for statements
    are_statements: NDArray[np.bool_]
    factors: Floats  # of all parts of a memory

    def parts_at(self, places: Places) -> dict[str, Floats]:
        """Return the parts of the rank of some memories."""
        return {
            name: self.factors[places]
            * np.where(self.are_statements[places], statement, verbatim)
            * self.kinds[name][places]
            for name, (verbatim, statement) in self.weights.items()
        }


def sessions_of(*, ids: NDArray[np.uint64], sessions: NDArray[np.uint64], said_at: Floats) -> Sessions:
    """Return the sessions of memories; `sessions` has one number per session, and a unique one without session."""
    found, groups = np.unique(sessions, return_inverse=True)
    return Sessions(groups=groups, number=len(found), order=np.lexsort((*_made(ids), said_at, groups)))


def match_words(*, memories: Memories, query: Words, policy: RetrievalPolicy) -> WordMatches:
    """Count the words of a query in every memory, its context and its session."""
    groups = memories.sessions.groups
    content = bm25.count(terms=memories.terms, query=query)
    context = bm25.count(terms=memories.context_terms, query=query)
    words = bm25.blend(content=content, context=context, weight=policy.context_weight)
    heard = bm25.gather(counted=content, groups=groups, number=memories.sessions.number)
    word_shares = _shares(words, policy)
    return WordMatches(
        scores=bm25.score_of_shares(shares=word_shares, saturation=policy.saturation),
        coverage=bm25.coverage(shares=word_shares, saturation=policy.saturation),
        in_sessions=bm25.score_of_shares(shares=_shares(heard, policy), saturation=policy.saturation),
    )


def rank(
    *,
    memories: Memories,
    words: WordMatches,
    noise_floor: float,
    now: float,
    policy: RetrievalPolicy,
) -> Scores:
    """Score every memory by the words of a query and by its vectors; `now` is Unix time.

    `noise_floor` is the cosine that unrelated texts reach. Without words, vectors and names only the priors are left.
    """
    evidence = {
        "words": words.coverage,
        "meaning": above_floor(memories.content_cosine, floor=noise_floor),
        "questions": above_floor(memories.question_cosine, floor=noise_floor),
    }
    relative = {
        "words": over_maximum(_supported(words.scores, memories, policy)),
        "meaning": _similarity(memories.content_cosine, memories, policy),
        "questions": _similarity(memories.question_cosine, memories, policy),
        "session": over_maximum(words.in_sessions)[memories.sessions.groups],
        "named": memories.named.astype(np.float64),
        "importance": memories.importance,
        "recency": recency(memories.said_at, now=now, half_life_days=policy.recency_half_life_days),
        "confidence": memories.confidence,
        "evidence": combined(evidence),
    }
    aside = np.where(memories.of_others, policy.others_share, 1.0)
    unsuited = np.where(memories.lacks_answer & memories.are_statements, policy.no_answer_share, 1.0)
    return _scores(
        relative, {name: aside * part for name, part in evidence.items()}, aside * unsuited, memories, policy
    )


def _scores(
    kinds: Mapping[str, Floats],
    evidence: Mapping[str, Floats],
    factors: Floats,
    memories: Memories,
    policy: RetrievalPolicy,
) -> Scores:
    """Sum up without an array for each part: with many memories, these take most of the time."""
    verbatim, statement = policy.weights.model_dump(), policy.statement_weights.model_dump()
    weights = {name: (verbatim[name], statement[name]) for name in kinds}
    relevance, priors = (
        factors
        * _weighted(
            {name: values for name, values in kinds.items() if (name in PRIORS) is are_priors},
            weights,
            memories.are_statements,
        )
        for are_priors in (False, True)
    )
    return Scores(
        rank=relevance + priors,
        relevance=relevance,
        score=combined(evidence),
        evidence=evidence,
        kinds=kinds,
        weights=weights,
        are_statements=memories.are_statements,
        factors=factors,
    )


def _weighted(
    kinds: Mapping[str, Floats], weights: Mapping[str, tuple[float, float]], are_statements: NDArray[np.bool_]
) -> Floats:
    """Return the weighted sum of evidence for each memory."""
    of_both = []
    for column, applies in ((0, ~are_statements), (1, are_statements)):
        total = np.zeros(len(are_statements))
        if applies.any():
            for name, values in kinds.items():
                total += weights[name][column] * values
        of_both.append(total)
    return np.where(are_statements, of_both[1], of_both[0])


def best(
    *,
    scores: Scores,
    memories: Memories,
    eligible: NDArray[np.bool_],
    limit: int,
    min_score: float = 0.0,
    is_blank: bool = False,
) -> Places:
    """Return the indexes of the best eligible memories, best first; equals are ordered by time, latest first.

    Memories below `min_score`, or with nothing but priors, are left out, unless the query `is_blank`.
    """
    if not is_blank:
        eligible = eligible & (scores.relevance > 0) & (scores.score >= min_score)
    wanted = np.flatnonzero(eligible)
    total = scores.rank.round(9)
    if len(wanted) > limit:  # only those that are at least as good as the last result have to be sorted
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
    """Scale values to 0…1, unknown ones (NaN) like the lowest; if all are equal, positive ones become 1."""
    lowest, highest = np.fmin.reduce(values, initial=np.inf), np.fmax.reduce(values, initial=-np.inf)
    if lowest > highest:  # no value is known
        return np.zeros_like(values)
    if highest > lowest:
        scaled: Floats = np.nan_to_num((values - lowest) / (highest - lowest), nan=0.0)
        return scaled
    return np.where(np.isnan(values) | (values <= 0), 0.0, 1.0)


def above_floor(cosine: Floats, *, floor: float) -> Floats:
    """Return the part of a cosine above the noise: 0 up to the floor and for unknown ones (NaN), 1 for equal texts."""
    result: Floats = np.nan_to_num(np.clip((cosine - floor) / (1 - floor), 0.0, 1.0), nan=0.0)
    return result


def combined(evidence: Mapping[str, Floats]) -> Floats:
    """Combine words with the better of the two meanings as independent probabilities: 1 - (1 - words) (1 - meaning)."""
    meaning = np.maximum(evidence["meaning"], evidence["questions"])
    result: Floats = 1 - (1 - evidence["words"]) * (1 - meaning)
    return result


def with_neighbours(values: Floats, groups: Places, order: Places, weight: float) -> Floats:
    """Add to each value `weight` times the values before and after it in `order`, within its group."""
    ordered = values[order]
    together = groups[order][1:] == groups[order][:-1]
    lent = np.zeros_like(ordered)
    lent[1:] += np.where(together, ordered[:-1], 0.0)
    lent[:-1] += np.where(together, ordered[1:], 0.0)
    result = values.copy()
    result[order] += weight * lent
    return result


def recency(said_at: Floats, *, now: float, half_life_days: float) -> Floats:
    """Return 1 for memories said now, halved with every half-life."""
    days = np.maximum(now - said_at, 0.0) / _SECONDS_A_DAY
    result: Floats = np.exp2(days / -half_life_days)
    return result


def _made(ids: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the sort keys for the order of creation, the less significant one first, as lexsort requires."""
    return ids[:, 1], ids[:, 0]


def _similarity(cosine: Floats, memories: Memories, policy: RetrievalPolicy) -> Floats:
    """Scale cosines; a neighbour adds its excess over the average, so that having no neighbour is neutral."""
    scaled = over_range(cosine)
    lent = _supported(scaled - scaled.mean(), memories, policy) if len(scaled) else scaled
    return np.where(np.isnan(cosine), 0.0, over_range(lent))


def _supported(values: Floats, memories: Memories, policy: RetrievalPolicy) -> Floats:
    """Add the values of neighbours to those of verbatim texts; statements keep their own value."""
    if memories.are_statements.all():
        return values
    sessions = memories.sessions
    supported = with_neighbours(values, sessions.groups, sessions.order, policy.neighbour_weight)
    return np.where(memories.are_statements, values, supported)


def _shares(counted: bm25.Counted, policy: RetrievalPolicy) -> bm25.Shares:
    return bm25.shares(counted=counted, saturation=policy.saturation, length_normalisation=policy.length_normalisation)
