"""A search never returns outdated data from the cache, whatever process has changed it."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Event
from unittest.mock import patch
from uuid import UUID

import pytest
from django.db import connection, connections, transaction
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from apps.actions.memories.count_accesses import Accesses
from apps.memories.models import Entity, Memory, MemoryChange, MemoryOrigin, MemoryRevision, MemoryVector
from apps.memories.search import SearchHit, search
from apps.memories.search import apply_delta as patching
from apps.memories.search.cache import CACHE, SearchCache
from apps.memories.search.query_sql import ReadMode, packing
from apps.memories.search.scope import SearchQuery, search_scope
from apps.pipeline.core.enums import MemoryType, Status
from apps.pipeline.core.identifiers import end_user_id, new_id
from apps.pipeline.core.policy import RetrievalPolicy
from apps.providers.fake import HashingEmbedder
from tests.memories.conftest import NOW, add_vectors
from tests.soak import examples

pytestmark = pytest.mark.django_db(transaction=True)

ROME, BOAT = "Ana lives in Rome.", "Ana has a green boat."
LATER = NOW + timedelta(days=1)


@pytest.fixture(autouse=True)
def _nothing_is_kept() -> Iterator[None]:
    CACHE.clear()
    yield
    CACHE.clear()


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

    with connection.cursor() as cursor:  # behind the triggers' back
        cursor.execute("alter table memories_memory disable trigger memory_revised")
        cursor.execute("update memories_memory set content = 'Ana has a car.' where id = %s", [kept.id])
        cursor.execute("alter table memories_memory enable trigger memory_revised")
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
    elsewhere(lambda: Memory.objects.filter(id=kept.id).update(**changes))
    assert [found() for _ in range(3)] == [is_found] * 3


def test_so_are_a_memory_that_comes_and_one_that_goes(kept, find, remember) -> None:
    elsewhere(lambda: remember("Ana paints lighthouses."))
    assert find("lighthouses", limit=1) == ["Ana paints lighthouses."]
    elsewhere(lambda: Memory.objects.filter(id=kept.id).delete())
    assert BOAT not in find("boat")


def test_so_are_its_vectors(kept, search_hits) -> None:
    def meaning() -> float:
        return next(hit.rank_parts["meaning"] for hit in search_hits("boat") if hit.memory.id == kept.id)

    assert meaning() > 0
    elsewhere(lambda: MemoryVector.objects.filter(memory=kept).delete())
    assert meaning() == 0


def test_its_subject_and_importance_too(kept, search_hits) -> None:
    def parts() -> dict[str, float]:
        return next(dict(hit.rank_parts) for hit in search_hits("boat of Ana") if hit.memory.id == kept.id)

    assert parts()["named"] == 0
    subject = Entity.objects.get(name="Ana")
    elsewhere(lambda: Memory.objects.filter(id=kept.id).update(subject=subject, importance=1.0))
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

    Memory.objects.filter(id=kept.id).update(expires_at=LATER)
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
    assert owner in {end_user for end_user, _, _ in CACHE.entries}


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

    with connection.cursor() as cursor:  # behind the triggers' back
        cursor.execute("alter table memories_memory disable trigger memory_revised")
        cursor.execute("update memories_memory set content = 'Ana has a car.' where content = %s", [ROME])
        cursor.execute("alter table memories_memory enable trigger memory_revised")
    Memory.objects.filter(id=kept.id).update(content="Ana has a canoe.")
    assert words("car") == 0
    assert words("canoe") > 0


def test_the_revision_rises_once_a_transaction(kept) -> None:
    def revision() -> int:
        return MemoryRevision.objects.get().number

    before = revision()
    with transaction.atomic():
        Memory.objects.update(importance=0.7)
        MemoryVector.objects.all().delete()
    assert revision() > before
    assert {each.number for each in MemoryChange.objects.all()} == {revision()}

    before = revision()
    Memory.objects.filter(id=kept.id).update(importance=0.8)
    assert [each.id for each in MemoryChange.objects.filter(number__gt=before)] == [kept.id]


def test_what_is_kept_at_a_later_revision_than_the_database_is_in_counts_for_nothing(kept, find) -> None:
    MemoryRevision.objects.update(number=1)  # as after a restored backup
    MemoryChange.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute("alter table memories_memory disable trigger memory_revised")
        cursor.execute("update memories_memory set content = 'Ana has a car.' where id = %s", [kept.id])
        cursor.execute("alter table memories_memory enable trigger memory_revised")
    assert [find("car", limit=1) for _ in range(3)] == [["Ana has a car."]] * 3


def test_a_language_goes_with_its_last_memory(remember, search_hits) -> None:
    def words() -> float:
        return max((hit.rank_parts["words"] for hit in search_hits("ist das der und das")), default=0)

    german = remember("Lena wohnt in einem alten Haus und der Garten ist sehr klein.")
    remember("Ana saw a film: Das und Der.", language="en")
    assert [words() for _ in range(3)] == [0] * 3  # stop words of the query's language
    Memory.objects.filter(id=german.id).update(status=Status.RETRACTED)
    assert words() > 0  # which nothing is in any more


def test_statements_stay_in_what_the_driver_recalls() -> None:
    scope = search_scope(SearchQuery(), policy=RetrievalPolicy(), now=NOW)
    assert all(len(packing(scope, reading)) < 4_096 for reading in ReadMode)


WORDS = ("boat", "rome", "ana", "green", "lena", "manager", "tea", "car", "der Garten und das Haus")
SAYINGS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
PLACES = st.integers(0, 5)


class Interleaving(RuleBasedStateMachine):
    """One end user, whose memories change and are searched in any order."""

    def __init__(self, user_id: str, remember, embedder) -> None:
        super().__init__()
        self.user_id, self.remember, self.embedder = user_id, remember, embedder
        self.made: list[Memory] = []
        self.now = NOW
        for content, subject in (("green boat", ""), ("tea", "Ana"), ("der Garten und das Haus", ""), ("car", "Lena")):
            self.comes(content, indexed=True, subject=subject)
        self.is_searched("Ana", times=2)

    @rule(content=SAYINGS, indexed=st.booleans(), subject=st.sampled_from(["", "Ana", "Lena"]))
    def comes(self, content: str, indexed: bool, subject: str) -> None:
        content = f"{content} {len(self.made)}"  # the same again is no new memory
        values = {"subject": subject, "predicate": "has"} if subject else {}
        self.made.append(self.remember(content, user_id=self.user_id, indexed=indexed, **values))

    @rule(place=PLACES, content=SAYINGS)
    def changes(self, place: int, content: str) -> None:
        self._one(place).update(content=content)

    @rule(place=PLACES, status=st.sampled_from([Status.ACTIVE, Status.RETRACTED, Status.PENDING_REVIEW]))
    def comes_or_goes(self, place: int, status: Status) -> None:
        self._one(place).update(status=status)

    @rule(place=PLACES)
    def is_superseded(self, place: int) -> None:
        self._one(place).update(status=Status.SUPERSEDED, valid_until=self.now)

    @rule(place=PLACES, days=st.integers(0, 2))
    def ends(self, place: int, days: int) -> None:
        self._one(place).update(expires_at=self.now + timedelta(days=days))

    @rule(days=st.integers(-1, 3))
    def time_passes(self, days: int) -> None:
        self.now += timedelta(days=days)

    @rule(place=PLACES)
    def is_told(self, place: int) -> None:
        self._one(place).update(access_count=7, last_accessed=self.now)

    @rule(place=PLACES)
    def is_deleted(self, place: int) -> None:
        MemoryOrigin.objects.filter(memory__in=self._one(place)).delete()
        self._one(place).delete()

    @rule(place=PLACES)
    def loses_its_vectors(self, place: int) -> None:
        MemoryVector.objects.filter(memory__in=self._one(place)).delete()

    @rule(place=PLACES)
    def gets_its_vectors(self, place: int) -> None:
        for memory in self._one(place).filter(vectors=None).select_related("subject"):
            add_vectors([memory], self.embedder)

    @rule(first=PLACES, second=PLACES, content=SAYINGS, is_kept=st.booleans())
    def two_change_at_once(self, first: int, second: int, content: str, is_kept: bool) -> None:
        """The first to write is the last to commit, or never does."""
        begun, may_end = Event(), Event()

        def write() -> None:
            with transaction.atomic():
                self._one(first).update(content=f"first {content}")
                begun.set()
                assert may_end.wait(60)
                transaction.set_rollback(not is_kept)
            connections.close_all()

        with ThreadPoolExecutor(1) as thread:
            writing = thread.submit(write)
            try:
                assert begun.wait(60)
                if first != second:
                    self._one(second).update(content=f"second {content}")
                self.is_searched(content, times=1)
            finally:
                may_end.set()
            writing.result()
        self.is_searched(content, times=1)

    @rule(text=SAYINGS, times=st.integers(1, 3))
    def is_searched(self, text: str, times: int) -> None:
        for _ in range(times):
            kept = self._search(text)
        keeper = SearchCache()
        with patch("apps.memories.search.search_columns.CACHE", keeper):
            read, whole = self._search(text), self._search(text)
        assert [hit.memory.id for hit in kept] == [hit.memory.id for hit in whole]
        for tolerance, others in ((1e-4, read), (1e-9, whole)):
            assert {hit.memory.id: dict(hit.rank_parts) for hit in kept} == {
                hit.memory.id: pytest.approx(dict(hit.rank_parts), abs=tolerance) for hit in others
            }

    def _one(self, place: int):
        return Memory.objects.filter(id__in=[each.id for each in self.made[place : place + 1]])

    def _search(self, text: str) -> tuple[SearchHit, ...]:
        query, policy = SearchQuery(text=text, limit=100), RetrievalPolicy()
        return search(end_user_id=self._user(), query=query, embedder=self.embedder, policy=policy, now=self.now)

    def _user(self) -> UUID:
        return self.made[0].end_user_id if self.made else new_id()


@pytest.mark.parametrize("apart", [1, 8])  # vectors that came stay apart for ever; or for a while
def test_kept_or_read_the_answer_is_the_same_through_any_changes(remember, embedder, monkeypatch, apart) -> None:
    monkeypatch.setattr(patching, "COMPACTION_SHARE", apart)
    run_state_machine_as_test(
        lambda: Interleaving(str(new_id()), remember, embedder),
        settings=settings(
            max_examples=examples(10),
            stateful_step_count=25,
            deadline=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
