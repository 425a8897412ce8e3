"""The explanation of a search: its order and scores are those of the search, and every other memory has a reason."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.memories.models import Memory
from apps.pipeline.core.enums import Stakes, Status
from apps.pipeline.core.policy import RetrievalPolicy
from apps.retrieval.explain import Recall
from apps.retrieval.explain import explain as explain_search
from apps.retrieval.query import SearchQuery
from apps.retrieval.search import Exclusion, ranked
from tests.retrieval.conftest import NOW
from tests.soak import few

A_DAY = timedelta(days=1)
WORDS = ("where", "does", "Ana", "live", "tea", "green", "Oslo", "bicycle", "my", "sister", "zzz", "")


@pytest.fixture
def explain(ana: UUID, embedder):
    def run(text: str, **values: Any) -> Recall:
        query = SearchQuery(text=text, **values)
        with ranked(end_user_id=ana, query=query, embedder=embedder, policy=RetrievalPolicy(), now=NOW) as ranking:
            return explain_search(ranking)

    return run


@pytest.fixture
def known(remember) -> None:
    remember("Ana lives in Oslo.", subject="Ana", predicate="lives_in", object="Oslo", session_id="one")
    remember("Ana drinks green tea.", subject="Ana", session_id="one")
    remember("Priya is the sister of Ana.", subject="Priya", said_at=NOW - 90 * A_DAY)
    remember("The bicycle is red.", indexed=False)
    for number, changes in enumerate(
        (
            {"status": Status.PENDING_REVIEW, "confidence": 0.5},
            {"status": Status.RETRACTED},
            {"expires_at": NOW - A_DAY},
            {"valid_from": NOW - 300 * A_DAY, "valid_until": NOW - A_DAY},
            {"confidence": 0.3},
        )
    ):
        memory = remember(f"Ana has tea number {number}.")
        Memory.objects.filter(pk=memory.pk).update(**changes)


@settings(max_examples=few())
@given(data=st.data())
def test_order_and_scores_are_those_of_the_search(known, ana, embedder, data) -> None:
    query = SearchQuery(
        text=" ".join(data.draw(st.lists(st.sampled_from(WORDS), max_size=6))),
        limit=data.draw(st.integers(1, 10)),
        stakes=data.draw(st.sampled_from(Stakes)),
        min_score=data.draw(st.sampled_from((0.0, 0.1, 0.4))),
        as_of=data.draw(st.sampled_from((None, NOW - 100 * A_DAY, NOW + 50 * A_DAY))),
    )
    about = {"end_user_id": ana, "query": query, "embedder": embedder, "policy": RetrievalPolicy(), "now": NOW}
    with ranked(**about) as ranking:
        hits = ranking.results()
    with ranked(**about) as ranking:
        explained = explain_search(ranking)

    results = [each for each in explained.scored if each.exclusion is None]
    assert [each.memory.id for each in results] == [hit.memory.id for hit in hits]
    for each, hit in zip(results, hits, strict=True):
        assert each.score == hit.score
        assert each.evidence == pytest.approx(hit.evidence)
        assert each.parts == pytest.approx(hit.parts)
    scores = [each.score for each in explained.scored]
    assert scores == sorted(scores, reverse=True)
    assert sum(explained.excluded.values()) + len(hits) == explained.scored_count
    listed = [*(each.memory.id for each in explained.scored), *(each.memory.id for each in explained.unscored)]
    assert sorted(listed) == sorted(Memory.objects.values_list("id", flat=True))


@pytest.mark.usefixtures("known")
def test_every_memory_that_is_not_scored_has_its_reason(explain) -> None:
    reasons = {each.memory.content: each.exclusion for each in explain("tea").unscored}
    assert reasons == {
        "Ana has tea number 0.": Exclusion.STATUS,
        "Ana has tea number 1.": Exclusion.STATUS,
        "Ana has tea number 2.": Exclusion.EXPIRED,
        "Ana has tea number 3.": Exclusion.NO_LONGER_VALID,
    }
    assert "Ana has tea number 0." not in {each.memory.content for each in explain("tea", stakes=Stakes.LOW).unscored}
    before = {each.memory.content: each.exclusion for each in explain("tea", as_of=NOW - 91 * A_DAY).unscored}
    assert before["Ana lives in Oslo."] is Exclusion.NOT_YET_VALID


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("content", "values", "exclusion"),
    [
        ("Ana has tea number 4.", {}, Exclusion.CONFIDENCE),
        ("The bicycle is red.", {}, Exclusion.UNRELATED),
        ("Ana lives in Oslo.", {"min_score": 0.9}, Exclusion.MIN_SCORE),
        ("Priya is the sister of Ana.", {"limit": 1, "min_score": 0.0}, Exclusion.LIMIT),
    ],
)
def test_a_scored_memory_that_is_no_result_has_its_reason(explain, content, values, exclusion) -> None:
    explained = explain("green tea of Ana", **values)
    assert {each.memory.content: each.exclusion for each in explained.scored}[content] is exclusion
    assert explained.excluded[exclusion] >= 1


@pytest.mark.usefixtures("known")
def test_statements_of_an_explanation_are_bounded(explain, django_assert_max_num_queries) -> None:
    with django_assert_max_num_queries(10):
        explain("green tea")


@pytest.mark.usefixtures("known")
def test_long_lists_are_cut_and_counted(explain, monkeypatch) -> None:
    monkeypatch.setattr("apps.retrieval.explain.MOST_SCORED", 2)
    monkeypatch.setattr("apps.retrieval.explain.MOST_UNSCORED", 1)
    explained = explain("Ana", limit=4)
    assert (explained.scored_count, explained.unscored_count, len(explained.unscored)) == (5, 4, 1)
    assert explained.scored[0].exclusion is None
    assert sum(each.exclusion is None for each in explained.scored) >= 2
