"""Filters pick among what may be shown: by kind, by status, by stakes, by time."""

from datetime import timedelta
from typing import Any

import pytest

from apps.memories.models import Entity
from apps.pipeline.core.enums import MemoryType, Stakes, Status
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.statement import Mention
from tests.retrieval.conftest import NOW

A_DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, {"tea one", "tea two", "tea three"}),
        ({"types": (MemoryType.PREFERENCE,)}, {"tea two"}),
        ({"types": (MemoryType.PREFERENCE, MemoryType.EVENT)}, {"tea two", "tea three"}),
        ({"topics": ("home",)}, {"tea one"}),
        ({"topics": ("home", "work")}, {"tea one", "tea three"}),
        ({"tags": ("goal",)}, {"tea two", "tea three"}),
        ({"tags": ("goal", "arc")}, {"tea three"}),
        ({"tags": ("goal",), "types": (MemoryType.PREFERENCE,)}, {"tea two"}),
        ({"types": (MemoryType.ENTITY,)}, set()),
        ({"metadata": {"app": "kitchen"}}, {"tea one"}),
        ({"metadata": {"size": {"cups": 2}}}, {"tea one"}),
        ({"metadata": {"app": "kitchen", "size": {"cups": 3}}}, set()),
        ({"said_from": NOW - A_DAY}, {"tea one", "tea two"}),
        ({"said_to": NOW - A_DAY}, {"tea two", "tea three"}),
        ({"said_from": NOW - 2 * A_DAY, "said_to": NOW - A_DAY}, {"tea two"}),
        ({"said_from": NOW - 2 * A_DAY, "tags": ("goal",), "types": (MemoryType.PREFERENCE,)}, {"tea two"}),
    ],
)
def test_filters(find, remember, filters, found) -> None:
    remember("tea one", topic="home", metadata={"app": "kitchen", "size": {"cups": 2}})
    remember("tea two", type=MemoryType.PREFERENCE, tags=("goal",), said_at=NOW - A_DAY)
    remember("tea three", type=MemoryType.EVENT, topic="work", tags=("goal", "arc"), said_at=NOW - 3 * A_DAY)
    assert set(find("tea", **filters)) == found


def test_all_filters_at_once_leave_what_passes_each(find, remember, ana) -> None:
    passing = {
        "subject": "Ben",
        "type": MemoryType.PREFERENCE,
        "topic": "home",
        "tags": ("goal",),
        "metadata": {"app": "kitchen"},
        "said_at": NOW - 2 * A_DAY,
        "confidence": 0.8,
        "status": Status.SUPERSEDED,
        "valid_from": NOW - 9 * A_DAY,
        "valid_until": NOW - A_DAY,
    }
    failing: list[dict[str, Any]] = [
        {"subject": "Cleo"},
        {"type": MemoryType.EVENT},
        {"topic": "work"},
        {"tags": ("arc",)},
        {"metadata": {"app": "garden"}},
        {"said_at": NOW - 7 * A_DAY},
        {"confidence": 0.65},
        {"status": Status.RETRACTED},
        {"valid_until": NOW - 4 * A_DAY},
    ]
    for number, change in enumerate([{}, *failing]):
        remember(f"tea number {number}", **{**passing, **change})
    found = find(
        "tea",
        entities=(Entity.objects.get(end_user_id=ana, name="Ben").id,),
        types=(MemoryType.PREFERENCE,),
        topics=("home",),
        tags=("goal",),
        metadata={"app": "kitchen"},
        said_from=NOW - 5 * A_DAY,
        said_to=NOW,
        stakes=Stakes.HIGH,
        min_confidence=0.4,
        as_of=NOW - 3 * A_DAY,
    )
    assert found == ["tea number 0"]


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.ACTIVE}))
def test_only_active_memories_are_shown_by_default(find, remember, status) -> None:
    remember("tea is fine", status=status, valid_until=NOW - A_DAY, valid_from=NOW - 2 * A_DAY)
    assert find("tea") == []
    assert find("tea", statuses=(status,)) == ["tea is fine"]


@pytest.mark.parametrize(
    ("stakes", "found"),
    [
        (Stakes.HIGH, ["tea at 0.9"]),
        (Stakes.NORMAL, ["tea at 0.9", "tea at 0.6"]),
        (Stakes.LOW, ["tea at 0.9", "tea at 0.6", "tea at 0.3", "tea waits at 0.3"]),
    ],
)
def test_stakes_decide_the_least_confidence(search_hits, remember, stakes, found) -> None:
    for confidence in (0.9, 0.6, 0.3, 0.1):
        remember(f"tea at {confidence}", confidence=confidence, status=Status.ACTIVE)
    remember("tea waits at 0.3", confidence=0.3, status=Status.PENDING_REVIEW)
    hits = search_hits("tea", stakes=stakes)
    assert {hit.memory.content for hit in hits} == set(found)
    assert {hit.memory.content for hit in hits if hit.is_unverified} == set(found) & {"tea waits at 0.3"}


def test_min_confidence_can_only_ask_for_more(find, remember) -> None:
    for confidence in (0.9, 0.5, 0.3):
        remember(f"tea at {confidence}", confidence=confidence, status=Status.ACTIVE)
    assert find("tea", min_confidence=0.8) == ["tea at 0.9"]
    assert set(find("tea", min_confidence=0.1)) == {"tea at 0.9", "tea at 0.5"}


def test_a_filtered_memory_still_counts_in_the_statistics(search_hits, remember) -> None:
    remember("tea", type=MemoryType.PREFERENCE, indexed=False)
    remember("green tea with lemon", indexed=False)
    filtered = search_hits("tea lemon", types=(MemoryType.FACT,))
    everything = {hit.memory.content: hit for hit in search_hits("tea lemon")}
    assert filtered[0].parts == everything["green tea with lemon"].parts


@pytest.mark.parametrize(
    ("days_ago", "found"),
    [(40, []), (20, ["Ana lives in Rome."]), (5, ["Ana lives in Oslo."]), (None, ["Ana lives in Oslo."])],
)
def test_as_of_shows_what_was_true_then(find, remember, days_ago, found) -> None:
    moved = NOW - 10 * A_DAY
    remember("Ana lives in Rome.", status=Status.SUPERSEDED, valid_from=NOW - 30 * A_DAY, valid_until=moved)
    remember("Ana lives in Oslo.", valid_from=moved)
    moment = None if days_ago is None else NOW - days_ago * A_DAY
    assert find("where does Ana live", as_of=moment) == found


def test_expired_and_ended_memories_are_not_shown(find, remember) -> None:
    remember("tea offer", expires_at=NOW - A_DAY)
    remember("tea cup", valid_from=NOW - 2 * A_DAY, valid_until=NOW - A_DAY)
    remember("tea pot", expires_at=NOW + A_DAY, valid_until=NOW + A_DAY)
    assert find("tea") == ["tea pot"]


def test_entities_are_found_as_subject_and_as_object(find, remember, ana) -> None:
    remember("tea with Ben", subject="Ben")
    remember("tea of Cleo and Ben", subject="Cleo", predicate="drinks_with", object=Mention("Ben"))
    remember("tea alone", subject="Dora")
    ids = {entity.name: entity.id for entity in Entity.objects.filter(end_user_id=ana)}
    assert set(find("tea", entities=(ids["Ben"],))) == {"tea with Ben", "tea of Cleo and Ben"}
    assert set(find("tea", entities=(ids["Cleo"], ids["Dora"]))) == {"tea of Cleo and Ben", "tea alone"}
    assert find("tea", entities=(new_id(),)) == []
