"""What is kept of an end user between searches is never told once it has changed, whoever changes it."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from django.db import connection, connections, transaction
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from apps.actions.note_accesses import Accesses
from apps.memories.kept import KEEPER
from apps.memories.models import Entity, Memory, MemoryRevision, MemoryVector
from apps.memories.scope import SearchQuery
from apps.memories.search import Hit, search
from apps.pipeline.identifiers import end_user_id, new_id
from apps.pipeline.policy import RetrievalPolicy
from apps.pipeline.vocabulary import MemoryType, Status
from apps.providers.fake import HashingEmbedder
from tests.memories.conftest import NOW, add_vectors

pytestmark = pytest.mark.django_db(transaction=True)

ROME, BOAT = "Ana lives in Rome.", "Ana has a green boat."
LATER = NOW + timedelta(days=1)


@pytest.fixture(autouse=True)
def _nothing_is_kept() -> Iterator[None]:
    KEEPER.clear()
    yield
    KEEPER.clear()


@pytest.fixture
def kept(remember, find) -> Memory:
    """Two memories that were searched until they are kept; return the one of the boat."""
    remember(ROME, subject="Ana", predicate="lives_in")
    memory = remember(BOAT)
    find("boat")
    assert not KEEPER.kept
    assert find("boat") == find("boat") == [BOAT, ROME]
    assert len(KEEPER.kept) == 1
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
        return max(hit.parts["words"] for hit in search_hits("car"))

    with connection.cursor() as cursor:  # behind the triggers' back
        cursor.execute("alter table memories_memory disable trigger memory_revised")
        cursor.execute("update memories_memory set content = 'Ana has a car.' where id = %s", [kept.id])
        cursor.execute("alter table memories_memory enable trigger memory_revised")
    assert words() == 0
    KEEPER.clear()
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
        parts = {hit.memory.id: hit.parts for hit in search_hits(text)}
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
        return next(hit.parts["meaning"] for hit in search_hits("boat") if hit.memory.id == kept.id)

    assert meaning() > 0
    elsewhere(lambda: MemoryVector.objects.filter(memory=kept).delete())
    assert meaning() == 0


def test_its_subject_and_importance_too(kept, search_hits) -> None:
    def parts() -> dict[str, float]:
        return next(dict(hit.parts) for hit in search_hits("boat of Ana") if hit.memory.id == kept.id)

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
    settings.ACCESS_COUNT_SECONDS = 3_600
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
        assert {hit.parts["meaning"] for hit in hits} == {0.0}
    assert len(KEEPER.kept) == 2


def test_no_more_memory_is_taken_than_allowed(remember, find, settings, project) -> None:
    users = [f"user {number}" for number in range(60)]
    for user in users:
        remember(BOAT, user_id=user)
    settings.SEARCH_CACHE_MB = 0.2
    for user in users:
        owner = end_user_id(project_id=project.id, user_id=user)
        for _ in range(3):
            assert find("boat", end_user_id=owner) == [BOAT]
    assert 0 < KEEPER.taken <= 200_000
    assert 1 < len(KEEPER.kept) < len(users)
    assert owner in {end_user for end_user, _, _ in KEEPER.kept}


def test_what_would_take_too_much_is_never_kept(remember, find, settings) -> None:
    settings.SEARCH_CACHE_MB = 0
    remember(BOAT)
    for _ in range(3):
        assert find("boat") == [BOAT]
    assert not KEEPER.kept


WORDS = ("boat", "rome", "ana", "green", "lena", "manager", "tea", "car")
SAYINGS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)


class Interleaving(RuleBasedStateMachine):
    """One end user, whose memories change and are searched in any order."""

    def __init__(self, user_id: str, remember, embedder) -> None:
        super().__init__()
        self.user_id, self.remember, self.embedder = user_id, remember, embedder
        self.made: list[Memory] = []

    @rule(content=SAYINGS, indexed=st.booleans(), subject=st.sampled_from(["", "Ana", "Lena"]))
    def comes(self, content: str, indexed: bool, subject: str) -> None:
        content = f"{content} {len(self.made)}"  # the same again is no new memory
        values = {"subject": subject, "predicate": "has"} if subject else {}
        self.made.append(self.remember(content, user_id=self.user_id, indexed=indexed, **values))

    @rule(place=st.integers(0, 9), content=SAYINGS)
    def changes(self, place: int, content: str) -> None:
        self._one(place).update(content=content)

    @rule(place=st.integers(0, 9), status=st.sampled_from([Status.ACTIVE, Status.RETRACTED]))
    def comes_or_goes(self, place: int, status: Status) -> None:
        self._one(place).update(status=status)

    @rule(place=st.integers(0, 9))
    def loses_its_vectors(self, place: int) -> None:
        MemoryVector.objects.filter(memory__in=self._one(place)).delete()

    @rule(place=st.integers(0, 9))
    def gets_its_vectors(self, place: int) -> None:
        for memory in self._one(place).filter(vectors=None).select_related("subject"):
            add_vectors([memory], self.embedder)

    @rule(text=SAYINGS, times=st.integers(1, 3))
    def is_searched(self, text: str, times: int) -> None:
        for _ in range(times):
            kept = self._search(text)
        held, KEEPER.kept = KEEPER.kept, type(KEEPER.kept)()
        seen, KEEPER.seen = KEEPER.seen, type(KEEPER.seen)()
        read = self._search(text)
        KEEPER.kept, KEEPER.seen = held, seen
        assert {hit.memory.id: dict(hit.parts) for hit in kept} == {
            hit.memory.id: pytest.approx(dict(hit.parts), abs=1e-4) for hit in read
        }

    def _one(self, place: int):
        return Memory.objects.filter(id__in=[each.id for each in self.made[place : place + 1]])

    def _search(self, text: str) -> tuple[Hit, ...]:
        query, policy = SearchQuery(text=text, limit=100), RetrievalPolicy()
        return search(end_user_id=self._user(), query=query, embedder=self.embedder, policy=policy, now=NOW)

    def _user(self) -> UUID:
        return self.made[0].end_user_id if self.made else new_id()


def test_kept_or_read_the_answer_is_the_same_through_any_changes(remember, embedder) -> None:
    run_state_machine_as_test(
        lambda: Interleaving(str(new_id()), remember, embedder),
        settings=settings(
            max_examples=25,
            stateful_step_count=20,
            deadline=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
