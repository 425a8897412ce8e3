"""Ranking: how evidence is scaled, shared with neighbours, weighted and ordered."""

from typing import Any

import numpy as np
import pytest
from apps.pipeline.retrieval.bm25 import Terms, Words

from apps.pipeline.core.policy import RankingWeights, RetrievalPolicy
from apps.retrieval.ranking import (
    PRIORS,
    Memories,
    Scores,
    best,
    match_words,
    over_maximum,
    over_range,
    rank,
    recency,
    sessions_of,
    with_neighbours,
)

NAN = float("nan")
A_DAY = 86_400.0
FLOOR = 0.2
NOW = 1_000 * A_DAY
QUERY: Words = (np.array([1], dtype=np.uint32), np.array([2], dtype=np.uint32))
NOTHING: Words = ()


def memories(words: list[list[int]], **given: Any) -> Memories:
    """Build memories from word numbers; by default in different sessions, said now, without vectors."""
    number = len(words)
    flat = np.array([word for each in words for word in each], dtype=np.uint32)
    lengths = np.array([len(each) for each in words], dtype=np.int64)
    values = {
        "sessions": range(number),
        "said_at": [NOW] * number,
        "content_cosine": [NAN] * number,
        "question_cosine": [NAN] * number,
        "named": [False] * number,
        "are_statements": [False] * number,
        "of_others": [False] * number,
        "lacks_answer": [False] * number,
        "importance": [0.5] * number,
        "confidence": [0.9] * number,
        **given,
    }
    flags = dict.fromkeys(("named", "are_statements", "of_others", "lacks_answer"), np.bool_)
    kinds = {"sessions": np.uint64, **flags}
    arrays = {name: np.array(list(each), dtype=kinds.get(name, np.float64)) for name, each in values.items()}
    ids = np.array([[0, place] for place in range(number)], dtype=np.uint64).reshape(-1, 2)
    nothing = Terms(hashes=np.array([], dtype=np.uint32), lengths=np.zeros(number, dtype=np.int64))
    sessions = sessions_of(ids=ids, sessions=arrays.pop("sessions"), said_at=arrays["said_at"])
    return Memories(
        ids=ids, sessions=sessions, terms=Terms(hashes=flat, lengths=lengths), context_terms=nothing, **arrays
    )


def scored(given: Memories, query: Words = QUERY) -> Scores:
    return ranked(given, query, RetrievalPolicy())


def ranked(given: Memories, query: Words, policy: RetrievalPolicy) -> Scores:
    words = match_words(memories=given, query=query, policy=policy)
    return rank(memories=given, words=words, noise_floor=FLOOR, now=NOW, policy=policy)


def order(given: Memories, *, query=QUERY, policy: RetrievalPolicy | None = None, **how: Any) -> list[int]:
    scores = ranked(given, query, policy or RetrievalPolicy())
    eligible = np.array(how.pop("eligible", [True] * len(given)), dtype=np.bool_)
    return best(scores=scores, memories=given, eligible=eligible, limit=how.pop("limit", 10), **how).tolist()


@pytest.mark.parametrize(
    ("values", "scaled"),
    [([], []), ([0, 0], [0, 0]), ([1, 4, 2], [0.25, 1, 0.5]), ([3], [1])],
)
def test_over_maximum(values, scaled) -> None:
    assert over_maximum(np.array(values, dtype=float)).tolist() == scaled


@pytest.mark.parametrize(
    ("values", "scaled"),
    [
        ([], []),
        ([NAN, NAN], [0, 0]),
        ([0.2, 0.4, 0.3], [0, 1, 0.5]),
        ([0.2, NAN, 0.4], [0, 0, 1]),
        ([0.3], [1]),
        ([0.3, NAN], [1, 0]),
        ([-0.3, -0.3], [0, 0]),
    ],
)
def test_over_range(values, scaled) -> None:
    assert over_range(np.array(values, dtype=float)).tolist() == pytest.approx(scaled)


@pytest.mark.parametrize(
    ("groups", "order_", "result"),
    [
        ([0, 0, 0], [0, 1, 2], [1 + 1, 2 + 0.5 + 2, 4 + 1]),
        ([0, 1, 2], [0, 1, 2], [1, 2, 4]),
        ([0, 1, 0], [0, 2, 1], [1 + 2, 2, 4 + 0.5]),
        ([0, 0, 0], [2, 0, 1], [1 + 2 + 1, 2 + 0.5, 4 + 0.5]),
    ],
)
def test_neighbours_of_a_group_lend_a_share(groups, order_, result) -> None:
    values = np.array([1.0, 2.0, 4.0])
    assert with_neighbours(values, np.array(groups), np.array(order_), 0.5).tolist() == result


def test_recency_halves_with_its_half_life() -> None:
    said = np.array([NOW, NOW - 10 * A_DAY, NOW - 20 * A_DAY, NOW + A_DAY])
    assert recency(said, now=NOW, half_life_days=10).tolist() == [1.0, 0.5, 0.25, 1.0]


@pytest.mark.parametrize("weights", [RankingWeights(), RetrievalPolicy().statement_weights])
def test_weights_add_up_to_one(weights: RankingWeights) -> None:
    assert sum(weights.model_dump().values()) == pytest.approx(1.0)


def test_priors_together_weigh_less_than_a_tenth() -> None:
    weights = RankingWeights().model_dump()
    assert sum(weights[name] for name in PRIORS) < 0.1


@pytest.mark.parametrize(
    ("evidence", "wanted"),
    [
        ({}, [1, 2]),  # words alone: the rarer word of the query counts more; no word, no hit
        ({"content_cosine": [0.9, 0.1, 0.1]}, [1, 2, 0]),
        ({"content_cosine": [0.9, 0.1, NAN]}, [1, 2, 0]),
        ({"question_cosine": [0.9, 0.1, 0.1]}, [1, 2, 0]),
        ({"named": [True, False, False]}, [1, 2, 0]),
        ({"named": [False, False, True]}, [2, 1]),
        ({"sessions": [7, 7, 8]}, [1, 2, 0]),
        ({"importance": [1.0, 0.0, 1.0]}, [1, 2]),
    ],
)
def test_each_kind_of_evidence_counts(evidence, wanted) -> None:
    assert order(memories([[9], [1, 5], [2, 2, 5, 6, 7, 8]], **evidence)) == wanted


def test_the_answer_beside_the_question_is_found() -> None:
    said = [[9], [1, 2], [8], [7], [6]]
    found = order(memories(said, sessions=[1, 1, 1, 2, 2], said_at=[NOW + place for place in range(5)]))
    assert found[0] == 1
    assert set(found[1:]) == {0, 2}


def test_a_statement_gets_nothing_from_its_neighbours_and_its_session() -> None:
    together = memories([[1, 2], [9], [8]], sessions=[1, 1, 1], are_statements=[True, True, False])
    assert order(together) == [0, 2]


def test_a_statement_with_evidence_of_its_own_comes_before_neighbours_of_a_good_one() -> None:
    statements = memories(
        [[1, 2, 9], [7], [8]],
        sessions=[1, 1, 2],
        said_at=[NOW - 1, NOW, NOW],
        content_cosine=[0.9, 0.3, 0.4],
        are_statements=[True] * 3,
    )
    assert order(statements) == [0, 2, 1]


def test_neighbours_are_those_by_time_not_by_place() -> None:
    shuffled = memories([[9], [8], [1, 2]], sessions=[1, 1, 1], said_at=[NOW - 3, NOW - 1, NOW - 4])
    policy = RetrievalPolicy(weights=RankingWeights(session=0))
    assert order(shuffled, policy=policy) == [2, 0]


def test_ineligible_memories_are_left_out() -> None:
    assert order(memories([[1], [1], [2]]), query=QUERY, eligible=[False, True, True]) == [2, 1]


@pytest.mark.parametrize(
    ("evidence", "wanted"),
    [
        ({"importance": [0.2, 0.9, 0.5]}, [1, 2, 0]),
        ({"confidence": [0.5, 0.6, 0.9]}, [2, 1, 0]),
        ({"said_at": [NOW, NOW - 400 * A_DAY, NOW - 40 * A_DAY]}, [0, 2, 1]),
        ({}, [2, 1, 0]),  # of equals the latest
    ],
)
def test_priors_settle_what_relevance_leaves_equal(evidence, wanted) -> None:
    assert order(memories([[1], [1], [1]], **evidence)) == wanted
    assert order(memories([[1], [1], [1]], **evidence), query=NOTHING, is_blank=True) == wanted


def test_nothing_that_only_the_priors_speak_for_is_a_hit() -> None:
    assert order(memories([[5], [6]], importance=[1.0, 1.0])) == []


def test_the_parts_are_weighted_and_sum_up() -> None:
    policy = RetrievalPolicy()
    scores = scored(memories([[1], [2, 3]], named=[True, False]))
    parts = scores.parts_at(np.arange(2))
    assert parts["named"].tolist() == [policy.weights.named, 0.0]
    assert scores.rank.tolist() == pytest.approx([sum(column) for column in zip(*parts.values(), strict=True)])
    assert (scores.rank <= 1.0 + 1e-9).all()


@pytest.mark.parametrize(
    ("words", "evidence", "lowest", "highest"),
    [
        ([1, 2], {}, 0.9, 1.0),  # every word of the query
        ([1], {}, 0.4, 0.6),  # one of two
        ([9], {}, 0.0, 0.0),
        ([9], {"content_cosine": [FLOOR]}, 0.0, 0.0),
        ([9], {"content_cosine": [-0.5]}, 0.0, 0.0),
        ([9], {"content_cosine": [0.6]}, 0.5, 0.5),
        ([9], {"question_cosine": [0.6]}, 0.5, 0.5),
        ([9], {"content_cosine": [0.6], "question_cosine": [0.6]}, 0.5, 0.5),  # the same meaning counts once
        ([9], {"content_cosine": [1.0]}, 1.0, 1.0),
        ([1], {"content_cosine": [0.6]}, 0.7, 0.8),  # words and meaning support each other
        ([9], {"named": [True]}, 0.0, 0.0),
        ([9], {"importance": [1.0], "confidence": [1.0]}, 0.0, 0.0),
        ([1, 2], {"of_others": [True]}, 0.5, 0.6),
    ],
)
def test_the_score_is_absolute(words, evidence, lowest, highest) -> None:
    (score,) = scored(memories([words], **evidence)).score.tolist()
    assert lowest - 1e-9 <= score <= highest + 1e-9


def test_the_score_does_not_depend_on_the_other_memories_said_with_it() -> None:
    scores = scored(memories([[1, 2], [9]], sessions=[1, 1])).score.tolist()
    assert scores[0] > 0.8
    assert scores[1] == 0.0


def test_a_word_that_no_memory_holds_lowers_the_score() -> None:
    unknown = np.array([77], dtype=np.uint32)
    assert scored(memories([[1, 2]]), (*QUERY, unknown)).score[0] < scored(memories([[1, 2]])).score[0]


def test_the_least_score_leaves_out_what_only_others_support() -> None:
    said = memories([[1, 2], [9], [1, 9]], sessions=[1, 1, 1])
    assert order(said) == [0, 2, 1]
    assert order(said, min_score=0.1) == [0, 2]
    assert order(said, min_score=0.8) == [0]
    assert order(said, min_score=0.1, query=NOTHING, is_blank=True) == [2, 1, 0]


def test_no_memories_rank_to_nothing() -> None:
    assert order(memories([])) == []


@pytest.mark.parametrize("limit", [1, 3, 15, 20, 29, 30, 50])
def test_a_limit_cuts_the_order_and_changes_nothing_in_it(limit) -> None:
    words = [[[1], [1, 2], [9]][place % 3] for place in range(45)]  # fifteen of each, equal but for the moment
    given = memories(words, said_at=[NOW - place % 7 for place in range(45)])
    everything = sorted(
        (place for place in range(45) if place % 3 < 2),
        key=lambda place: (len(words[place]), given.said_at[place], place),
        reverse=True,
    )
    assert order(given, limit=limit) == everything[:limit]
