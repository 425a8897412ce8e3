"""Scores of a search are absolute: they mean the same for every query, and can be thresholded."""

import pytest
from apps.memories.search.embedder_noise import noise_floor_of

from apps.actions.memories.store import StoreRequest, store
from apps.pipeline.core.enums import LinkStatus, MemoryType, Status
from apps.pipeline.core.ports import Embedder
from apps.pipeline.core.statement import Mention
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.providers.fake import HashingEmbedder
from apps.providers.wordllama import WordLlamaEmbedder
from tests.memories.conftest import contradict

BUDGET = "User's budget for the Japan trip is 7500 euros."
TOURS = "User dislikes group tours."
GIBBERISH = ["xqzt blorf wug", "flurbination of the gnarpled snood", "asdfgh"]


@pytest.fixture
def embedder() -> Embedder:
    return WordLlamaEmbedder()


@pytest.fixture
def told(remember) -> None:
    for content in (
        BUDGET,
        TOURS,
        "Ana lives in Oslo.",
        "Ana works as a nurse in the harbour clinic.",
        "Ana is allergic to hazelnuts.",
        "Ana's team runs PostgreSQL 16.",
    ):
        remember(content, subject="Ana", session_id="one")


@pytest.mark.usefixtures("told")
class TestThreshold:
    @pytest.mark.parametrize("query", GIBBERISH)
    @pytest.mark.parametrize("min_score", [0.1, 0.2])
    def test_gibberish_finds_nothing(self, find, query, min_score) -> None:
        assert find(query, min_score=min_score) == []

    @pytest.mark.parametrize(
        ("query", "answer"),
        [
            ("how much money for the trip?", BUDGET),
            ("Where does Ana live?", "Ana lives in Oslo."),
            ("nuts that Ana must not eat", "Ana is allergic to hazelnuts."),
            ("what is her job at the clinic", "Ana works as a nurse in the harbour clinic."),
        ],
    )
    def test_an_answer_passes(self, find, query, answer) -> None:
        assert find(query, min_score=0.2)[0] == answer

    def test_what_only_the_session_and_the_name_support_has_a_score_of_its_own(self, search_hits) -> None:
        hits = {hit.memory.content: hit for hit in search_hits("how much money for the trip?")}
        assert hits[BUDGET].score > 0.3
        assert TOURS not in hits or hits[TOURS].score < 0.1

    def test_the_same_words_score_alike_whatever_else_is_known(self, search_hits, remember) -> None:
        before = search_hits("allergic to hazelnuts")[0].score
        for number in range(20):
            remember(f"User counted {number} boats.", indexed=False)
        assert search_hits("allergic to hazelnuts")[0].score == pytest.approx(before, abs=0.1)

    def test_a_blank_query_has_no_threshold(self, find) -> None:
        assert len(find(" ", min_score=0.9)) == 6


def test_a_contested_memory_names_what_contradicts_it(search_hits, remember) -> None:
    nuts, no_nuts = remember("Ana eats hazelnuts."), remember("Ana is allergic to hazelnuts.")
    contradict(nuts, no_nuts)
    found = {hit.memory.id: hit.contradicted_by for hit in search_hits("hazelnuts")}
    assert found == {nuts.id: (no_nuts.id,), no_nuts.id: (nuts.id,)}


@pytest.mark.parametrize(
    ("link", "other"),
    [({"status": LinkStatus.SETTLED}, {}), ({}, {"status": Status.RETRACTED})],
    ids=["settled", "the other is gone"],
)
def test_a_settled_contradiction_is_none(search_hits, remember, link, other) -> None:
    nuts, no_nuts = remember("Ana eats hazelnuts."), remember("Ana is allergic to hazelnuts.", **other)
    contradict(nuts, no_nuts, **link)
    assert all(hit.contradicted_by == () for hit in search_hits("hazelnuts"))


def test_the_noise_of_an_embedder_is_measured_once() -> None:
    class Counting(HashingEmbedder):
        calls = 0

        def embed(self, texts):
            self.calls += 1
            return super().embed(texts)

    counting = Counting(name="counting", dimension=128)
    assert noise_floor_of(counting) == noise_floor_of(counting)
    assert counting.calls == 1


def test_two_round_trips_are_enough_for_contested_memories(search_hits, project, django_assert_num_queries) -> None:
    new = NewMemory(type=MemoryType.FACT, content="Ana lives in Rome.", subject=Mention("Ana"))
    store(request=StoreRequest(project_id=project.id, api_key_id=None, user_id="ana", memories=(new,)))
    with django_assert_num_queries(2):
        assert search_hits("Rome")[0].contradicted_by == ()
