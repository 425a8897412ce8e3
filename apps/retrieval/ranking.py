"""Ranking: one score from 0 to 1 for each memory of an end user, which decides the order of results.

    score = relevance · strength

Relevance compares the memories with each other: words and vectors differ in scale, so each kind of evidence is scaled
to 0…1 over the memories before it is weighted (RankingWeights). Strength is absolute: how much of the query's words and
meaning a memory contains, whatever the others contain. So the score is near 0 for a query that no memory answers, and
comparable between queries and languages. docs/decisions/search.md has the measurements.

Verbatim texts are supported by their neighbours in the same session, because the answer to a question is often in the
next turn. A statement, which has a subject and a predicate or a quote, is complete in itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.pipeline.core.policy import RankingWeights, RetrievalPolicy
from apps.retrieval import bm25
from apps.retrieval.bm25 import Floats, Places, Words

_SECONDS_A_DAY = 86_400.0
PRIORS = ("importance", "recency", "confidence")  # do not depend on the query: they order equal scores
# Words alone are less than the meaning: "works out" has the words of "where does she work". Half of the words are an
# eighth of the evidence, since most texts share common words. A name of the query is a little evidence by itself.
# Strength is the square root of the evidence, from 0.1 for none. Chosen on recorded conversations and on sentences
# in fourteen languages: docs/decisions/search.md.
_WORDS_ALONE = 0.85
_NAME_ALONE = 0.15
_SESSION_SHARE = 0.85  # of the evidence that another text of its session has, for a verbatim text
_LEAST = 0.01
_STRENGTH = 0.5


@dataclass(frozen=True, slots=True)
class Memories:
    """The input of ranking: one entry per memory in every array, in the order of their creation."""

    keys: Sequence[bytes]  # their ids
    terms: Sequence[bytes]
    context_terms: Sequence[bytes]
    sessions: Sequence[bytes]  # the memory's own id where it has no session
    said_at: Floats  # Unix time
    event_at: Floats  # 0 where there is none
    content_cosine: Floats  # NaN if the vector is not computed yet
    question_cosine: Floats  # the best one; NaN if the vectors are not computed yet
    named: NDArray[np.bool_]  # the query names its subject or object
    are_statements: NDArray[np.bool_]
    are_events: NDArray[np.bool_]
    are_rules: NDArray[np.bool_]
    eligible: NDArray[np.bool_]  # it may be a result
    of_others: NDArray[np.bool_]  # it is a statement about someone, and the query names only others
    lacks_answer: NDArray[np.bool_]  # the query asks when, where or how many, which its sentence doesn't say
    importance: Floats
    confidence: Floats

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of memories and what they are made of, one entry per memory in every array; all 0 to 1."""

    score: Floats
    parts: Mapping[str, Floats]  # add up to the relevance
    evidence: Mapping[str, Floats]  # of words, meaning and questions, of which the strength is made
    prior: Floats  # orders equal scores
    said_at: Floats

    def best(self, *, limit: int, min_score: float, eligible: NDArray[np.bool_] | None = None) -> list[int]:
        """Return the places of the best memories of at least a score, best first; of equals the latest said first.

        Without evidence, a memory is no result. A score of less than 0 asks for all.
        """
        wanted = self.score >= min_score if min_score < 0 else (self.score >= min_score) & (self.score > 0)
        places = np.flatnonzero(wanted if eligible is None else wanted & eligible)
        order = np.lexsort((places, self.said_at[places], self.prior[places], self.score[places]))
        found: list[int] = places[order][::-1][:limit].tolist()
        return found


@dataclass(frozen=True, slots=True)
class _Sessions:
    """The session of each memory as a number, and the places of all memories by session and time."""

    groups: Places
    order: Places

    @classmethod
    def of(cls, memories: Memories) -> "_Sessions":
        numbers: dict[bytes, int] = {}
        groups = np.array([numbers.setdefault(each, len(numbers)) for each in memories.sessions], dtype=np.int64)
        return cls(groups=groups, order=np.lexsort((memories.said_at, groups)))

    def highest(self, values: Floats) -> Floats:
        """Return the highest value of the session of each memory."""
        found = np.zeros(int(self.groups.max(initial=-1)) + 1)
        np.maximum.at(found, self.groups, values)
        return found[self.groups]

    def of_neighbours(self, values: Floats) -> Floats:
        """Return the sum of the values before and after each memory in its session."""
        ordered = values[self.order]
        together = np.diff(self.groups[self.order]) == 0
        lent = np.zeros_like(ordered)
        lent[1:] += np.where(together, ordered[:-1], 0.0)
        lent[:-1] += np.where(together, ordered[1:], 0.0)
        result = np.empty_like(lent)
        result[self.order] = lent
        return result


def rank(*, memories: Memories, query: Words, noise: float, now: float, policy: RetrievalPolicy) -> Scores:
    """Score every memory; `noise` is the cosine that unrelated texts reach, `now` is Unix time."""
    sessions = _Sessions.of(memories)
    groups = sessions.groups
    counted, lengths = bm25.count_words(memories.terms, query)
    in_context, context_lengths = bm25.count_words(memories.context_terms, query)
    weight = policy.context_weight
    shares = bm25.word_shares(counted + weight * in_context, lengths + weight * context_lengths, policy)
    heard = bm25.word_shares(*bm25.gather(counted, lengths, groups), policy)
    evidence = {
        "words": bm25.coverage(shares, saturation=policy.saturation),
        "meaning": above(memories.content_cosine, noise=noise),
        "questions": above(memories.question_cosine, noise=noise),
    }
    meaning = np.maximum(evidence["meaning"], evidence["questions"])
    aside = np.where(memories.of_others, policy.others_share, 1.0)
    found = aside * combined(evidence, named=memories.named)
    kinds = {
        "words": over_maximum(_supported(bm25.score(shares, saturation=policy.saturation), memories, sessions, policy)),
        "meaning": _similarity(memories.content_cosine, memories, sessions, policy),
        "questions": _similarity(memories.question_cosine, memories, sessions, policy),
        "session": over_maximum(bm25.score(heard, saturation=policy.saturation))[groups],
        "named": memories.named.astype(np.float64),
        "evidence": aside * (1 - (1 - evidence["words"]) * (1 - meaning)),
    }
    unsuited = np.where(memories.lacks_answer & memories.are_statements, policy.no_answer_share, 1.0)
    of_texts, of_statements = _weights(policy.weights, kinds), _weights(policy.statement_weights, kinds)
    parts = {
        name: aside * unsuited * values * np.where(memories.are_statements, of_statements[name], of_texts[name])
        for name, values in kinds.items()
    }
    relevance = sum(parts.values(), np.zeros(len(memories)))
    of_session = np.maximum(found, _SESSION_SHARE * sessions.highest(found))
    own = np.where(memories.are_statements, found, of_session)
    strength = ((own + _LEAST) / (1 + _LEAST)) ** _STRENGTH  # little without any evidence
    priors = {
        "importance": memories.importance,
        "recency": recency(memories.said_at, now=now, half_life_days=policy.recency_half_life_days),
        "confidence": memories.confidence,
    }
    return Scores(
        score=(relevance * strength).round(4),
        parts=parts,
        evidence=evidence,
        prior=sum(getattr(policy.weights, name) * values for name, values in priors.items()),
        said_at=memories.said_at,
    )


def combined(evidence: Mapping[str, Floats], *, named: NDArray[np.bool_]) -> Floats:
    """Combine words, the better of the two meanings, and a name as independent probabilities."""
    meaning = np.maximum(evidence["meaning"], evidence["questions"])
    without = (1 - _WORDS_ALONE * evidence["words"] ** 3) * (1 - meaning) * (1 - _NAME_ALONE * named)
    result: Floats = 1 - without
    return result


def _weights(weights: RankingWeights, kinds: Iterable[str]) -> dict[str, float]:
    """Return the weight of each kind of evidence; all add up to 1."""
    found = {name: float(getattr(weights, name)) for name in kinds}
    return {name: weight / (sum(found.values()) or 1.0) for name, weight in found.items()}


def _similarity(cosine: Floats, memories: Memories, sessions: _Sessions, policy: RetrievalPolicy) -> Floats:
    """Scale cosines; a neighbour adds its excess over the average, so that having no neighbour is neutral."""
    scaled = over_range(cosine)
    if not memories.are_statements.all():
        scaled = over_range(_supported(scaled - scaled.mean(), memories, sessions, policy))
    return np.where(np.isnan(cosine), 0.0, scaled)


def _supported(values: Floats, memories: Memories, sessions: _Sessions, policy: RetrievalPolicy) -> Floats:
    """Add the values of neighbours in the session to those of verbatim texts; statements keep their own value."""
    return np.where(memories.are_statements, values, values + policy.neighbour_weight * sessions.of_neighbours(values))


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


def above(cosine: Floats, *, noise: float) -> Floats:
    """Return the part of a cosine above the noise: 0 up to it and for unknown ones (NaN), 1 for equal texts."""
    result: Floats = np.nan_to_num(np.clip((cosine - noise) / (1 - noise), 0.0, 1.0), nan=0.0)
    return result


def recency(said_at: Floats, *, now: float, half_life_days: float) -> Floats:
    """Return 1 for memories said now, halved with every half-life."""
    days = np.maximum(now - said_at, 0.0) / _SECONDS_A_DAY
    result: Floats = np.exp2(days / -half_life_days)
    return result
