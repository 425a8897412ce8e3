"""Kept or read, the answer is the same through any changes."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event
from unittest.mock import patch
from uuid import UUID

import pytest
from django.db import connections, transaction
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from apps.memories.models import Memory, MemoryOrigin, MemoryVector
from apps.memories.search import SearchHit, search
from apps.memories.search import apply_delta as patching
from apps.memories.search.cache import SearchCache
from apps.memories.search.scope import SearchQuery
from apps.pipeline.core.enums import Status
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.policy import RetrievalPolicy
from tests.memories.changing import change, changing
from tests.memories.conftest import NOW, add_vectors
from tests.soak import few

pytestmark = pytest.mark.django_db(transaction=True)
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
        change(self._one(place), content=content)

    @rule(place=PLACES, status=st.sampled_from([Status.ACTIVE, Status.RETRACTED, Status.PENDING_REVIEW]))
    def comes_or_goes(self, place: int, status: Status) -> None:
        change(self._one(place), status=status)

    @rule(place=PLACES)
    def is_superseded(self, place: int) -> None:
        change(self._one(place), status=Status.SUPERSEDED, valid_until=self.now)

    @rule(place=PLACES, days=st.integers(0, 2))
    def ends(self, place: int, days: int) -> None:
        change(self._one(place), expires_at=self.now + timedelta(days=days))

    @rule(days=st.integers(-1, 3))
    def time_passes(self, days: int) -> None:
        self.now += timedelta(days=days)

    @rule(place=PLACES)
    def is_told(self, place: int) -> None:
        self._one(place).update(access_count=7, last_accessed=self.now)

    @rule(place=PLACES)
    def is_deleted(self, place: int) -> None:
        with changing(self._one(place)):
            MemoryOrigin.objects.filter(memory__in=self._one(place)).delete()
            self._one(place).delete()

    @rule(place=PLACES)
    def loses_its_vectors(self, place: int) -> None:
        with changing(self._one(place)):
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
                change(self._one(first), content=f"first {content}")
                begun.set()
                assert may_end.wait(60)
                transaction.set_rollback(not is_kept)
            connections.close_all()

        with ThreadPoolExecutor(1) as thread:
            writing = thread.submit(write)
            try:
                assert begun.wait(60)
                if first != second:
                    change(self._one(second), content=f"second {content}")
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


@pytest.mark.parametrize("apart", [1, 8])  # new vectors stay in a block of their own always, or for a while
def test_kept_or_read_the_answer_is_the_same_through_any_changes(remember, embedder, monkeypatch, apart) -> None:
    monkeypatch.setattr(patching, "COMPACTION_SHARE", apart)
    run_state_machine_as_test(
        lambda: Interleaving(str(new_id()), remember, embedder),
        settings=settings(
            max_examples=few(),
            stateful_step_count=25,
            deadline=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
