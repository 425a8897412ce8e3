"""Ranking: how evidence is scaled, shared with neighbours, weighted and ordered, and what a score says by itself."""

import struct
from typing import Any

import numpy as np
import pytest

from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.policy import RankingWeights, RetrievalPolicy
from apps.retrieval.bm25 import Words
from apps.retrieval.ranking import Memories, Scores, over_maximum, over_range, rank, recency

NAN = float("nan")
A_DAY = 86_400.0
NOISE = 0.2
NOW = 1_000 * A_DAY
QUERY: Words = (np.array([1], dtype=np.uint32), np.array([2], dtype=np.uint32))


def memories(words: list[list[int]], **given: Any) -> Memories:
    """Build memories from word numbers; by default without session, said now, without vectors."""
    number = len(words)
    keys = [str(new_id()) for _ in words]
    sessions = given.pop("sessions", None)
    named = {each: str(new_id()) for each in set(sessions or ())}
    values = {
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
    arrays = {name: np.array(list(each), dtype=flags.get(name, np.float64)) for name, each in values.items()}
    return Memories(
        keys=keys,
        terms=[struct.pack(f">{len(each)}I", *each) for each in words],
        context_terms=[b""] * number,
        sessions=[named[each] for each in sessions] if sessions else keys,
        **arrays,
    )


def scored(given: Memories, query: Words = QUERY, policy: RetrievalPolicy | None = None) -> Scores:
    return rank(memories=given, query=query, noise=NOISE, now=NOW, policy=policy or RetrievalPolicy())


def order(given: Memories, *, min_score: float = 0.0, limit: int = 10, **how: Any) -> list[int]:
    return scored(given, **how).best(limit=limit, min_score=min_score)


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


def test_recency_halves_with_its_half_life() -> None:
    said = np.array([NOW, NOW - 10 * A_DAY, NOW - 20 * A_DAY, NOW + A_DAY])
    assert recency(said, now=NOW, half_life_days=10).tolist() == [1.0, 0.5, 0.25, 1.0]


@pytest.mark.parametrize("weights", [RankingWeights(), RetrievalPolicy().statement_weights])
def test_weights_add_up_to_one(weights: RankingWeights) -> None:
    assert sum(weights.model_dump().values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("evidence", "wanted"),
    [
        ({}, [1, 2]),  # words alone: the rarer word of the query counts more; no word, no hit
        ({"content_cosine": [0.9, 0.1, 0.1]}, [0, 1, 2]),
        ({"question_cosine": [0.9, 0.1, 0.1]}, [1, 0, 2]),
        ({"named": [False, False, True]}, [2, 1]),
        ({"sessions": [7, 7, 8]}, [1, 2, 0]),
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
    scores = scored(memories([[1], [1], [2]]))
    assert scores.best(limit=10, min_score=0.0, eligible=np.array([False, True, True])) == [2, 1]


@pytest.mark.parametrize(
    ("evidence", "wanted"),
    [
        ({"importance": [0.2, 0.9, 0.5]}, [1, 2, 0]),
        ({"confidence": [0.5, 0.6, 0.9]}, [2, 1, 0]),
        ({"said_at": [NOW, NOW - 400 * A_DAY, NOW - 40 * A_DAY]}, [0, 2, 1]),
        ({}, [2, 1, 0]),  # of equals the latest
    ],
)
def test_priors_order_what_has_the_same_score(evidence, wanted) -> None:
    assert order(memories([[1], [1], [1]], **evidence)) == wanted


def test_nothing_that_only_the_priors_speak_for_is_a_hit() -> None:
    assert order(memories([[5], [6]], importance=[1.0, 1.0])) == []


def test_the_parts_are_weighted_and_sum_up() -> None:
    policy = RetrievalPolicy()
    scores = scored(memories([[1], [2, 3]], named=[True, False]))
    kinds = set(policy.weights.model_dump()) - {"importance", "recency", "confidence"}
    share = policy.weights.named / sum(getattr(policy.weights, name) for name in kinds)
    assert scores.parts["named"].tolist() == pytest.approx([share, 0.0])
    assert set(scores.parts) == kinds
    assert (scores.score <= sum(scores.parts.values())).all()


@pytest.mark.parametrize(
    ("words", "evidence", "lowest", "highest"),
    [
        ([1, 2], {"content_cosine": [0.9], "question_cosine": [0.9]}, 0.9, 1.0),
        ([1, 2], {}, 0.4, 0.7),  # every word of the query, but nothing of its meaning
        ([1], {}, 0.1, 0.4),  # one of two words
        ([9], {}, 0.0, 0.0),
        ([9], {"content_cosine": [-0.5]}, 0.0, 0.0),
        ([9], {"content_cosine": [NOISE], "question_cosine": [NOISE]}, 0.0, 0.1),
        ([9], {"content_cosine": [0.6], "question_cosine": [0.6]}, 0.3, 0.6),
        ([9], {"importance": [1.0], "confidence": [1.0]}, 0.0, 0.0),
    ],
)
def test_the_score_says_how_much_the_memory_has_to_do_with_the_query(words, evidence, lowest, highest) -> None:
    (score,) = scored(memories([words], are_statements=[True], **evidence)).score.tolist()
    assert lowest - 1e-9 <= score <= highest + 1e-9


def test_what_is_told_of_others_scores_less() -> None:
    (of_user,) = scored(memories([[1, 2]])).score
    (of_others,) = scored(memories([[1, 2]], of_others=[True])).score
    assert of_others < 0.7 * of_user


def test_a_statement_said_with_the_right_one_has_no_part_in_its_score() -> None:
    scores = scored(memories([[1, 2], [9]], sessions=[1, 1], are_statements=[True, True])).score.tolist()
    assert scores[0] > 0.4
    assert scores[1] == 0.0


def test_a_word_that_no_memory_holds_lowers_the_score() -> None:
    unknown = np.array([77], dtype=np.uint32)
    assert scored(memories([[1, 2]]), (*QUERY, unknown)).score[0] < scored(memories([[1, 2]])).score[0]


def test_the_least_score_cuts_the_order() -> None:
    said = memories([[1, 2], [9], [1, 9]], are_statements=[True] * 3)
    assert order(said) == [0, 2]
    assert order(said, min_score=scored(said).score[0]) == [0]
    assert order(said, min_score=1.0) == []


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
