"""Over weeks, changed values supersede old ones, and people stay distinct."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.memories.models import Entity, Memory
from apps.pipeline.core.enums import LinkKind, Status
from tests.api import storing

Say = Callable[..., dict[str, Any]]


@pytest.fixture
def say(client: APIClient) -> Say:
    """Send a turn of a day, with one session per day unless one is given."""

    def tell(*contents: str, on: str, session: str = "") -> dict[str, Any]:
        return storing.say(client, *contents, on=on, session=session or on)

    return tell


def values(predicate: str, *, subject: str = "", status: Status = Status.ACTIVE) -> list[str]:
    rows = Memory.objects.filter(predicate=predicate, status=status).order_by("valid_from", "said_at")
    return [row.object_text for row in (rows.filter(subject__name=subject) if subject else rows)]


def periods(predicate: str) -> list[tuple[str, str, str]]:
    """Return value, first and last day (or "now") of each value, in the order in which they were true."""
    rows = Memory.objects.filter(predicate=predicate).order_by("valid_from", "valid_until")
    return [
        (row.object_text, f"{row.valid_from:%m-%d}", f"{row.valid_until:%m-%d}" if row.valid_until else "now")
        for row in rows
    ]


def test_berlin_munich_and_back(say: Say) -> None:
    say("I live in Berlin.", on="2025-01-01")
    say("I live in Munich now.", on="2025-02-01")
    say("I live in Berlin these days.", on="2025-03-01")
    assert periods("lives_in") == [
        ("Berlin", "01-01", "02-01"),
        ("Munich", "02-01", "03-01"),
        ("Berlin", "03-01", "now"),
    ]
    superseded = Memory.objects.filter(status=Status.SUPERSEDED)
    assert all(row.superseded_by is not None for row in superseded)


def test_a_place_stated_again_in_the_same_words_and_session(say: Say) -> None:
    berlin, munich = "I live in Berlin.", "I live in Munich."
    for day, content in enumerate((berlin, munich, "ok thanks", berlin, munich, berlin), start=1):
        say(content, on=f"2025-01-{day:02}", session="s")
    assert periods("lives_in") == [
        ("Berlin", "01-01", "01-02"),
        ("Munich", "01-02", "01-04"),
        ("Berlin", "01-04", "01-05"),
        ("Munich", "01-05", "01-06"),
        ("Berlin", "01-06", "now"),
    ]
    assert values("lives_in") == ["Berlin"]


def test_no_longer_vegan(say: Say) -> None:
    say("I'm vegan.", on="2025-01-01")
    say("I'm no longer vegan.", on="2025-02-01")
    vegan = Memory.objects.filter(content__icontains="vegan").order_by("said_at")
    assert [row.status for row in vegan] == [Status.SUPERSEDED, Status.ACTIVE]
    assert vegan[0].superseded_by == vegan[1]


def test_an_old_diary_never_wins(say: Say) -> None:
    say("I live in Lisbon.", on="2025-06-01")
    say("I live in Porto.", on="2019-06-01", session="diary")
    assert values("lives_in") == ["Lisbon"]
    assert values("lives_in", status=Status.SUPERSEDED) == ["Porto"]
    (porto,) = Memory.objects.filter(object_text="Porto")
    assert porto.superseded_by is not None
    assert porto.valid_until == porto.superseded_by.valid_from


def test_the_manager_changes(say: Say) -> None:
    say("My manager is called Priya.", on="2025-01-01")
    say("My manager is called Bob.", on="2025-02-01")
    outcome = say("My manager lives in Rome.", on="2025-03-01")
    assert outcome["stored"] == 1
    home = Memory.objects.get(predicate="lives_in")
    assert home.subject is not None
    assert home.subject.name == "Bob"
    assert Entity.objects.filter(name__in=["Priya", "Bob"]).count() == 2


def test_a_corrected_name(say: Say) -> None:
    say("My name is Anna.", on="2025-01-01")
    say("Actually, my name is Ana.", on="2025-01-02")
    say("I love figs.", on="2025-01-03")
    assert values("name") == ["Ana"]
    assert Memory.objects.get(content__icontains="figs").content.startswith("Ana ")
    assert Entity.objects.filter(is_user=True).count() == 1


def test_two_sams_stay_two(say: Say) -> None:
    say("My brother Sam lives in Rome.", on="2025-01-01")
    say("My dentist Sam lives in Oslo.", on="2025-01-02")
    sams = Entity.objects.filter(name="Sam")
    assert sams.count() == 2
    homes = Memory.objects.filter(predicate="lives_in").exclude(subject=None)
    assert len({row.subject_id for row in homes}) == 2


def test_ten_sessions_that_say_the_same_make_it_surer(say: Say) -> None:
    for day in range(1, 11):
        say("I am allergic to peanuts.", on=f"2025-01-{day:02}")
    (memory,) = Memory.objects.filter(content__icontains="peanuts")
    assert memory.recurrence == 10
    assert memory.origins.count() == 10
    first = memory.versions.order_by("version").first()
    assert first is not None
    assert memory.confidence > first.values["confidence"]


def test_ten_times_in_one_session_make_it_no_surer(say: Say) -> None:
    for number in range(10):
        say(f"{'So, ' * (number % 2)}I am allergic to peanuts.", f"Item {number} is done.", on="2025-01-01")
    (memory,) = Memory.objects.filter(content__icontains="peanuts")
    assert memory.recurrence == 1
    confidences = {past.values.get("confidence", memory.confidence) for past in memory.versions.all()}
    assert confidences <= {memory.confidence}


def test_what_contradicts_is_linked_and_both_stay(say: Say) -> None:
    say("I like olives.", on="2025-01-01")
    say("I don't like olives.", on="2025-01-05")
    olives = Memory.objects.filter(content__icontains="olives")
    assert [row.status for row in olives] == [Status.ACTIVE, Status.ACTIVE]
    assert [link.kind for row in olives for link in row.links_out.all()] == [LinkKind.CONTRADICTS]
