"""A search never returns outdated data from the cache, whatever process has changed it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from django.db import connections, transaction

from apps.actions.memories.count_accesses import Accesses
from apps.memories.models import Entity, Memory, MemoryChange, MemoryRevision, MemoryVector
from apps.memories.search import search
from apps.memories.search.cache import CACHE
from apps.memories.search.query_sql import ReadMode, packing
from apps.memories.search.scope import SearchQuery, search_scope
from apps.pipeline.core.enums import MemoryType, Status
from apps.pipeline.core.identifiers import end_user_id
from apps.pipeline.core.policy import RetrievalPolicy
from apps.providers.fake import HashingEmbedder
from tests.memories.changing import change, changing
from tests.memories.conftest import NOW
from tests.memories.search.cache_helper import BOAT, ROME

pytestmark = pytest.mark.django_db(transaction=True)
LATER = NOW + timedelta(days=1)


@pytest.fixture
def kept(remember, find) -> Memory:
    """Two memories that were searched until they are kept; return the one of the boat."""
    remember(ROME, subject="Ana", predicate="lives_in")
    memory = remember(BOAT)
    find("boat")
    assert not CACHE.entries
    assert find("boat") == find("boat") == [BOAT, ROME]
    assert len(CACHE.entries) == 1
    return memory


def elsewhere(act: Callable[[], object]) -> None:
    """Do something over another connection, which commits it."""

    def alone() -> None:
        try:
            act()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(alone).result()


def test_what_is_kept_is_not_read_again(kept, search_hits) -> None:
    def words() -> float:
        return max(hit.rank_parts["words"] for hit in search_hits("car"))

    Memory.objects.filter(id=kept.id).update(content="Ana has a car.")  # without a note
    assert words() == 0
    CACHE.clear()
    assert words() > 0


@pytest.mark.parametrize(
    ("changes", "text", "is_found"),
    [
        ({"content": "Ana has a red canoe."}, "canoe", True),
        ({"context": "It lies in Hamburg."}, "Hamburg", True),
        ({"status": Status.RETRACTED}, "boat", False),
        ({"valid_until": NOW}, "boat", False),
        ({"expires_at": NOW}, "boat", False),
        ({"confidence": 0.01}, "boat", False),
    ],
)
def test_a_change_elsewhere_is_seen_by_the_next_search(kept, search_hits, changes, text, is_found) -> None:
    def found() -> bool:
        parts = {hit.memory.id: hit.rank_parts for hit in search_hits(text)}
        return kept.id in parts and parts[kept.id]["words"] > 0

    assert found() != is_found
    elsewhere(lambda: change(Memory.objects.filter(id=kept.id), **changes))
    assert [found() for _ in range(3)] == [is_found] * 3


def test_so_are_a_memory_that_comes_and_one_that_goes(kept, find, remember) -> None:
    elsewhere(lambda: remember("Ana paints lighthouses."))
    assert find("lighthouses", limit=1) == ["Ana paints lighthouses."]

    def goes() -> None:
        with changing(Memory.objects.filter(id=kept.id)):
            Memory.objects.filter(id=kept.id).delete()

    elsewhere(goes)
    assert BOAT not in find("boat")


def test_so_are_its_vectors(kept, search_hits) -> None:
    def meaning() -> float:
        return next(hit.rank_parts["meaning"] for hit in search_hits("boat") if hit.memory.id == kept.id)

    def loses_them() -> None:
        with changing(Memory.objects.filter(id=kept.id)):
            MemoryVector.objects.filter(memory=kept).delete()

    assert meaning() > 0
    elsewhere(loses_them)
    assert meaning() == 0


def test_its_subject_and_importance_too(kept, search_hits) -> None:
    def parts() -> dict[str, float]:
        return next(dict(hit.rank_parts) for hit in search_hits("boat of Ana") if hit.memory.id == kept.id)

    assert parts()["named"] == 0
    subject = Entity.objects.get(name="Ana")
    elsewhere(lambda: change(Memory.objects.filter(id=kept.id), subject=subject, importance=1.0))
    assert parts()["named"] > 0
    assert parts()["importance"] > 0


def test_what_a_transaction_has_written_itself_is_seen_in_it(kept, find) -> None:
    with transaction.atomic():
        Memory.objects.filter(id=kept.id).update(content="Ana has a canoe.")
        assert find("canoe", limit=1) == ["Ana has a canoe."]
        transaction.set_rollback(True)
    assert find("boat", limit=1) == [BOAT]


def test_time_alone_takes_a_memory_away(kept, ana, embedder) -> None:
    def found(at: datetime) -> bool:
        query, policy = SearchQuery(text="boat"), RetrievalPolicy()
        hits = search(end_user_id=ana, query=query, embedder=embedder, policy=policy, now=at)
        return BOAT in {hit.memory.content for hit in hits}

    change(Memory.objects.filter(id=kept.id), expires_at=LATER)
    assert [found(NOW) for _ in range(3)] == [True] * 3
    assert found(LATER - timedelta(seconds=1))
    assert not found(LATER)
    assert found(NOW)


def test_telling_a_memory_changes_nothing(kept, find, settings) -> None:
    settings.ACCESS_FLUSH_SECONDS = 3_600
    before = MemoryRevision.objects.get().number
    told = Accesses()
    told.note(end_user_id=kept.end_user_id, memory_ids=[kept.id], at=NOW)
    told.timer.cancel()
    assert told.count() == 1
    assert MemoryRevision.objects.get().number == before


def test_filters_and_other_moments_are_searched_as_ever(kept, find) -> None:
    assert find("boat", types=(MemoryType(kept.type),), topics=("none",)) == []
    assert find("boat", as_of=NOW - timedelta(days=9)) == []
    assert find("boat", min_confidence=1.0) == []
    assert find("boat") == [BOAT, ROME]


def test_another_embedder_has_vectors_of_its_own(kept, ana, find) -> None:
    policy, query = RetrievalPolicy(), SearchQuery(text="boat")
    for _ in range(3):
        hits = search(end_user_id=ana, query=query, embedder=HashingEmbedder(dimension=32), policy=policy, now=NOW)
        assert {hit.rank_parts["meaning"] for hit in hits} == {0.0}
    assert len(CACHE.entries) == 2


def test_no_more_memory_is_taken_than_allowed(remember, find, settings, project) -> None:
    users = [f"user {number}" for number in range(60)]
    for user in users:
        remember(BOAT, user_id=user)
    settings.SEARCH_CACHE_MB = 0.2
    CACHE.clear()
    for user in users:
        owner = end_user_id(project_id=project.id, user_id=user)
        for _ in range(3):
            assert find("boat", end_user_id=owner) == [BOAT]
    assert 0 < CACHE.entries.currsize <= 200_000
    assert 1 < len(CACHE.entries) < len(users)
    assert owner in {end_user for end_user, *_ in CACHE.entries}


def test_what_would_take_too_much_is_never_kept(remember, find, settings) -> None:
    settings.SEARCH_CACHE_MB = 0
    CACHE.clear()
    remember(BOAT)
    for _ in range(3):
        assert find("boat") == [BOAT]
    assert not CACHE.entries


def test_only_what_has_changed_is_read_again(kept, search_hits) -> None:
    def words(text: str) -> float:
        return max(hit.rank_parts["words"] for hit in search_hits(text))

    Memory.objects.filter(content=ROME).update(content="Ana has a car.")  # without a note
    change(Memory.objects.filter(id=kept.id), content="Ana has a canoe.")
    assert words("car") == 0
    assert words("canoe") > 0


def test_the_revision_rises_once_a_transaction(kept) -> None:
    def revision() -> int:
        return MemoryRevision.objects.get().number

    before = revision()
    with changing(Memory.objects.all()):
        Memory.objects.update(importance=0.7)
        with changing(Memory.objects.all()):
            MemoryVector.objects.all().delete()
    assert revision() > before
    assert {each.number for each in MemoryChange.objects.all()} == {revision()}

    before = revision()
    change(Memory.objects.filter(id=kept.id), importance=0.8)
    assert [each.id for each in MemoryChange.objects.filter(number__gt=before)] == [kept.id]


def test_what_is_kept_at_a_later_revision_than_the_database_is_in_counts_for_nothing(kept, find) -> None:
    MemoryRevision.objects.update(number=1)  # as after a restored backup
    MemoryChange.objects.all().delete()
    Memory.objects.filter(id=kept.id).update(content="Ana has a car.")
    assert [find("car", limit=1) for _ in range(3)] == [["Ana has a car."]] * 3


def test_a_language_goes_with_its_last_memory(remember, search_hits) -> None:
    def words() -> float:
        return max((hit.rank_parts["words"] for hit in search_hits("ist das der und das")), default=0)

    german = remember("Lena wohnt in einem alten Haus und der Garten ist sehr klein.")
    remember("Ana saw a film: Das und Der.", language="en")
    assert [words() for _ in range(3)] == [0] * 3  # stop words of the query's language
    change(Memory.objects.filter(id=german.id), status=Status.RETRACTED)
    assert words() > 0  # which nothing is in any more


def test_statements_stay_in_what_the_driver_recalls() -> None:
    scope = search_scope(SearchQuery(), policy=RetrievalPolicy(), now=NOW)
    assert all(len(packing(scope, reading)) < 4_096 for reading in ReadMode)
