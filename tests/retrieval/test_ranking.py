"""Ranking: how evidence is scaled, shared with neighbours, weighted and ordered, and what a score says by itself."""

import struct
from typing import Any

import numpy as np
import pytest

from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.policy import RetrievalPolicy
from apps.retrieval.bm25 import Words
from apps.retrieval.ranking import Memories, Scores, rank

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
        "event_at": [0.0] * number,
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
    others = {"are_events": [False] * number, "are_rules": [False] * number, "eligible": [True] * number}
    values |= {name: given.get(name, each) for name, each in others.items()}
    names = ("named", "are_statements", "of_others", "lacks_answer", *others)
    flags = dict.fromkeys(names, np.bool_)
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


def test_a_statement_with_evidence_of_its_own_comes_before_neighbours_of_a_good_one() -> None:
    statements = memories(
        [[1, 2, 9], [7], [8]],
        sessions=[1, 1, 2],
        said_at=[NOW - 1, NOW, NOW],
        content_cosine=[0.9, 0.3, 0.4],
        are_statements=[True] * 3,
    )
    assert order(statements) == [0, 2, 1]


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
