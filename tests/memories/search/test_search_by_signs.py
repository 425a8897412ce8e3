"""The vectors of many memories are cached as signs, and the answer is that of a search which reads all of them."""

import pytest
from django.db import transaction

from apps.memories.models import Memory
from apps.memories.search import SearchHit
from apps.memories.search.cache import CACHE
from apps.memories.search.query_sql import CHOSEN_COSINES, ReadMode, VectorForm, packing
from apps.memories.search.scope import SearchQuery, search_scope
from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.retrieval import shortlist
from tests.memories.changing import change
from tests.memories.conftest import NOW

pytestmark = pytest.mark.django_db(transaction=True)
TOWNS = [
    f"{first}{second}" for first in ("Nor", "Sud", "Al", "Wes") for second in ("burg", "ford", "ham", "stedt", "vik")
]
TOO_SMALL = 0.06  # for the vectors of so many memories, and large enough for their signs


@pytest.fixture
def towns(remember, settings) -> list[Memory]:
    settings.SEARCH_CACHE_MB = TOO_SMALL
    CACHE.clear()
    return [remember(f"Ana has been to {town}.") for town in TOWNS]


def ranks(hits: tuple[SearchHit, ...]) -> dict[str, object]:
    return {hit.memory.content: pytest.approx(hit.rank, abs=1e-4) for hit in hits}


def are_signs_cached() -> bool:
    return [entry.vectors.are_signs for entry in CACHE.entries.values()] == [True]


def test_cached_signs_find_what_all_vectors_find(towns, search_hits) -> None:
    uncached = search_hits("a trip to Alham")
    assert uncached[0].memory.content == "Ana has been to Alham."
    for _ in range(2):  # the second search fills the cache, the third one uses it
        assert {hit.memory.content: hit.rank for hit in search_hits("a trip to Alham")} == ranks(uncached)
        assert are_signs_cached()


def test_a_change_is_found_and_a_deleted_memory_is_not(towns, search_hits, remember) -> None:
    for _ in range(3):
        search_hits("Alham")
    with transaction.atomic():
        change(Memory.objects.filter(id=towns[0].id), content="Ana has a red canoe.")
        change(Memory.objects.filter(content="Ana has been to Alham."), status="retracted")
    remember("Ana has a green boat.")
    found = [search_hits(text)[0].memory.content for text in ("red canoe", "green boat")]
    assert (found, are_signs_cached()) == (["Ana has a red canoe.", "Ana has a green boat."], True)
    assert "Ana has been to Alham." not in {hit.memory.content for hit in search_hits("Alham")}


def test_what_the_words_speak_for_is_compared_exactly(towns, search_hits, monkeypatch) -> None:
    monkeypatch.setattr(shortlist, "SHORTLISTED", 3)
    monkeypatch.setattr(shortlist, "LIKELY", 1)
    uncached = search_hits("Alham")[0]
    kept = [search_hits("Alham")[0] for _ in range(2)][-1]
    assert (kept.memory.id, kept.score) == (uncached.memory.id, pytest.approx(uncached.score, abs=1e-4))


def test_statements_of_signs_stay_in_what_the_driver_recalls() -> None:
    scope = search_scope(SearchQuery(), policy=RetrievalPolicy(), now=NOW)
    texts = [packing(scope, reading, VectorForm.SIGNS) for reading in (ReadMode.WHOLE, ReadMode.CHANGES)]
    assert all(len(text) < 4_096 for text in (*texts, CHOSEN_COSINES))
