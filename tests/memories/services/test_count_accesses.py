"""Retrievals are counted after the search: many in one statement, none twice."""

from datetime import UTC, datetime, timedelta

import pytest

from apps.memories.models import Memory
from apps.memories.services.count_accesses import ACCESSES, Accesses
from apps.memories.services.store import StoreRequest, store
from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.retrieval.query import SearchQuery
from apps.retrieval.services import build_context, search_memories

NOW = datetime(2030, 6, 1, tzinfo=UTC)


@pytest.fixture
def memories(project) -> list[Memory]:
    new = tuple(NewMemory(type=MemoryType.FACT, content=f"Ana has a {thing}.") for thing in ("lamp", "chair", "rug"))
    ids = store(request=StoreRequest(project_id=project.id, api_key_id=None, user_id="ana", memories=new))
    return list(Memory.objects.filter(id__in=ids).order_by("content"))


@pytest.fixture
def accesses(settings):
    """Disable counting by the timer."""
    settings.ACCESS_FLUSH_SECONDS = 3_600
    made = Accesses()
    yield made
    if made.timer:
        made.timer.cancel()


def counts(memories: list[Memory]) -> list[int]:
    return list(
        Memory.objects.filter(id__in=[each.id for each in memories])
        .order_by("content")
        .values_list("access_count", flat=True)
    )


def test_all_retrieved_memories_are_counted(memories, accesses) -> None:
    chair, lamp, _ = memories
    user = chair.end_user_id
    accesses.note(end_user_id=user, memory_ids=[chair.id, lamp.id], at=NOW)
    accesses.note(end_user_id=user, memory_ids=[chair.id], at=NOW + timedelta(hours=1))
    assert accesses.count() == 2
    assert counts(memories) == [2, 1, 0]
    chair.refresh_from_db(fields=["last_accessed", "version"])
    assert (chair.last_accessed, chair.version) == (NOW + timedelta(hours=1), 1)


def test_what_was_counted_is_not_counted_again(memories, accesses) -> None:
    accesses.note(end_user_id=memories[0].end_user_id, memory_ids=[memories[0].id], at=NOW)
    accesses.count()
    assert accesses.count() == 0
    assert counts(memories) == [1, 0, 0]


def test_an_older_access_does_not_turn_time_back(memories, accesses) -> None:
    for at in (NOW, NOW - timedelta(days=1)):
        accesses.note(end_user_id=memories[0].end_user_id, memory_ids=[memories[0].id], at=at)
        accesses.count()
    memories[0].refresh_from_db(fields=["last_accessed"])
    assert memories[0].last_accessed == NOW


def test_memories_of_other_users_or_of_nobody_are_left_alone(memories, accesses) -> None:
    accesses.note(end_user_id=new_id(), memory_ids=[memories[0].id], at=NOW)
    accesses.note(end_user_id=memories[0].end_user_id, memory_ids=[new_id()], at=NOW)
    accesses.count()
    assert counts(memories) == [0, 0, 0]


def test_one_timer_waits_for_all(memories, accesses) -> None:
    accesses.note(end_user_id=memories[0].end_user_id, memory_ids=[memories[0].id], at=NOW)
    first = accesses.timer
    accesses.note(end_user_id=memories[0].end_user_id, memory_ids=[memories[1].id], at=NOW)
    assert first is not None
    assert accesses.timer is first
    assert first.daemon


def test_searching_and_telling_are_noted(memories, project, settings, monkeypatch) -> None:
    noted: list[object] = []
    monkeypatch.setattr(Accesses, "note", lambda self, **values: noted.extend(values["memory_ids"]))
    search_memories(project_id=project.id, user_id="ana", query=SearchQuery(text="lamp", limit=1))
    assert noted == [memories[1].id]
    build_context(project_id=project.id, user_id="ana", query=SearchQuery(), token_budget=500)
    assert set(noted) == {each.id for each in memories}


def test_a_setting_of_nothing_counts_nothing(memories) -> None:
    ACCESSES.note(end_user_id=memories[0].end_user_id, memory_ids=[memories[0].id], at=NOW)
    assert (ACCESSES.waiting, ACCESSES.timer) == ({}, None)
