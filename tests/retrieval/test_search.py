"""Search finds what the query's words, meaning, session and names point at, in two round trips."""

import math

import pytest

from apps.providers.fake import HashingEmbedder
from tests.retrieval.conftest import add_vectors

ROME = "Ana lives in Rome."
TEA = "Ana drinks green tea in the morning."
DOG = "Ana has a dog called Rex."


@pytest.fixture
def three(remember) -> None:
    for content in (ROME, TEA, DOG):
        remember(content, subject="Ana")


@pytest.mark.usefixtures("three")
class TestRelevance:
    @pytest.mark.parametrize(
        ("query", "first"),
        [
            ("Rome", ROME),
            ("what does she drink", TEA),  # "drink" and "drinks" share a stem
            ("the dogs", DOG),
            ("REX?!", DOG),
            ("where does Ana live", ROME),
        ],
    )
    def test_the_best_memory_comes_first(self, find, query, first) -> None:
        assert find(query)[0] == first

    def test_the_limit_holds(self, find) -> None:
        assert len(find("Ana", limit=2)) == 2

    def test_scores_fall_and_are_explained(self, search_hits) -> None:
        hits = search_hits("Ana and the dog in Rome")
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        for hit in hits:
            assert 0.0 <= hit.score <= math.fsum(hit.parts.values()) <= 1.0
            assert set(hit.evidence) == {"words", "meaning", "questions"}
            assert set(hit.parts) == {"words", "meaning", "questions", "session", "named", "evidence"}

    def test_statements_of_a_search_are_bounded(self, search_hits, django_assert_max_num_queries) -> None:
        with django_assert_max_num_queries(7):
            hits = search_hits("Rome")
            assert hits[0].memory.subject is not None
            assert hits[0].memory.subject.name == "Ana"


def test_a_user_without_memories_has_no_hits(find, project) -> None:
    assert find("anything") == []


def test_context_words_count_less_than_content_words(find, remember) -> None:
    remember("The answer was yes.", context="Did the ferry to Bari leave?", indexed=False)
    remember("The ferry to Bari left.", indexed=False)
    assert find("ferry Bari") == ["The ferry to Bari left.", "The answer was yes."]


def test_a_neighbour_in_the_session_speaks_for_a_memory(find, remember) -> None:
    remember("It was blue.", session_id="one", indexed=False)
    remember("What colour was the kayak?", session_id="one", indexed=False)
    remember("It was heavy.", session_id="two", indexed=False)
    assert find("colour of the kayak") == ["What colour was the kayak?", "It was blue."]


@pytest.mark.parametrize("query", ["when does Ben Okri play chess", "BEN OKRI: chess?", "ben okri's chess"])
def test_memories_of_whom_the_query_names_come_first(find, remember, query) -> None:
    remember("Plays chess on Sundays.", subject="Ben Okri", indexed=False)
    remember("Plays chess on Mondays.", subject="Cleo", indexed=False)
    assert find(query) == ["Plays chess on Sundays.", "Plays chess on Mondays."]
    assert find(query.lower().replace("ben okri", "cleo"))[0] == "Plays chess on Mondays."


def test_important_memories_win_between_equals(find, remember) -> None:
    remember("Ana bought a lamp.", importance=0.1)
    remember("Bea bought a lamp.", importance=0.9)
    assert find("lamp") == ["Bea bought a lamp.", "Ana bought a lamp."]


def test_importance_never_outranks_relevance(find, remember) -> None:
    remember("Ana bought a lamp.", importance=0.0)
    remember("Ana bought a chair.", importance=1.0)
    assert find("lamp")[0] == "Ana bought a lamp."


def test_without_vectors_words_are_enough(find, remember) -> None:
    remember(ROME, indexed=False)
    remember(TEA, indexed=False)
    assert find("Rome") == [ROME]


def test_vectors_still_owed_don_t_hide_a_memory(find, remember) -> None:
    remember(ROME, indexed=False)
    remember(TEA)
    assert find("Rome")[0] == ROME


@pytest.mark.parametrize("other", [HashingEmbedder(name="another"), HashingEmbedder(dimension=32)])
def test_vectors_of_another_model_are_not_compared(search_hits, remember, other) -> None:
    memory = remember(ROME, indexed=False)
    add_vectors([memory], other)
    assert search_hits("Rome")[0].evidence["meaning"] == 0.0


def test_a_blank_query_gives_the_most_important(find, remember) -> None:
    remember("Ana once saw a heron.", importance=0.2)
    remember("Ana is allergic to nuts.", importance=0.9)
    assert find("  ") == ["Ana is allergic to nuts.", "Ana once saw a heron."]
