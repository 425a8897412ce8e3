"""A correction supersedes the corrected value, which stays in the history."""

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from apps.memories.models import Entity, Memory, MemoryLink
from apps.pipeline.core.enums import LinkKind, Status

Say = Callable[..., None]


@pytest.fixture
def say(client: APIClient) -> Say:
    """Send a turn, in a new session unless one is given."""

    def tell(*contents: str, on: str, session: str = "") -> None:
        turns = [{"role": "user", "content": content, "occurred_at": f"{on}T10:00:00Z"} for content in contents]
        body = {"user_id": "ana", "session_id": session or on, "mode": "sync", "turns": turns}
        answer = client.post("/v1/turns", body)
        assert answer.status_code == 200, answer.content

    return tell


def contents(status: Status) -> set[str]:
    return set(Memory.objects.filter(status=status).values_list("content", flat=True))


def contradictions() -> int:
    return MemoryLink.objects.filter(kind=LinkKind.CONTRADICTS).count()


@pytest.mark.parametrize(
    ("before", "correction", "old", "new"),
    [
        ("I use Vim for everything.", "Actually no, I use Neovim, not Vim.", "User uses Vim.", "User uses Neovim."),
        ("I use Vim.", "I use Neovim instead of Vim.", "User uses Vim.", "User uses Neovim."),
        ("I live in Paris.", "I meant Lyon, not Paris.", "User lives in Paris.", "User lives in Lyon."),
        ("I live in Paris.", "No, I live in Lyon, not Paris.", "User lives in Paris.", "User lives in Lyon."),
        (
            "I play the cello.",
            "Sorry, I meant the viola, not the cello.",
            "User plays the cello.",
            "User plays the viola.",
        ),
        (
            "My birthday is on 15 June.",
            "Sorry, it's 14 June, not 15 June.",
            "User's birthday is on 15 June.",
            "User's birthday is on 14 June.",
        ),
        (
            "I am going to fly to Oslo on the 15th.",
            "Sorry, it's the 14th, not the 15th.",
            "User is going to fly to Oslo on the 15th.",
            "User is going to fly to Oslo on the 14th.",
        ),
    ],
)
def test_a_correction_closes_what_it_takes_back(say: Say, before: str, correction: str, old: str, new: str) -> None:
    say(before, "I bought a lamp.", correction, on="2025-01-01")
    assert old in contents(Status.SUPERSEDED)
    assert new in contents(Status.ACTIVE)
    closed = Memory.objects.get(content=old)
    assert closed.superseded_by is not None
    assert closed.superseded_by.content == new
    assert contradictions() == 0


def test_a_correction_reaches_other_sessions(say: Say) -> None:
    say("I use Vim.", on="2025-01-01")
    say("Actually no, I use Neovim, not Vim.", on="2025-03-01")
    assert contents(Status.SUPERSEDED) == {"User uses Vim."}
    assert contradictions() == 0


def test_a_value_that_is_known_already_takes_another_one_back(say: Say) -> None:
    say("I use Neovim.", on="2025-01-01")
    say("I use Vim.", on="2025-02-01")
    say("No, I use Neovim, not Vim.", on="2025-03-01")
    assert contents(Status.SUPERSEDED) == {"User uses Vim."}
    assert "User uses Neovim." in contents(Status.ACTIVE)


def test_an_old_correction_takes_nothing_back_that_was_said_since(say: Say) -> None:
    say("I use Vim.", on="2025-03-01")
    say("I use Neovim, not Vim.", on="2019-03-01", session="diary")
    assert "User uses Vim." in contents(Status.ACTIVE)


@pytest.mark.parametrize("correction", ["No, her name is Anna, not Anne.", "My sister's name is Anna, not Anne."])
@pytest.mark.parametrize("on", ["2025-01-01", "2025-01-05"])
def test_a_corrected_name_is_that_of_the_same_person(say: Say, on: str, correction: str) -> None:
    say("My sister Anne lives in Rome.", on="2025-01-01")
    say(correction, on=on)
    say("Anna plays the harp.", on="2025-02-01")
    sister = Entity.objects.get(is_user=False, type="person")
    assert sister.name == "Anna"
    assert set(Memory.objects.filter(subject=sister, status=Status.ACTIVE).values_list("predicate", flat=True)) >= {
        "lives_in",
        "plays",
    }
    assert "User's sister's name is Anna." in contents(Status.ACTIVE)


@pytest.mark.parametrize(
    ("before", "later"),
    [
        ("I love spicy food.", "It's mild, not spicy."),  # the soup
        ("My sister Anne lives in Rome.", "I met Anna, not Anne."),
        ("I live in Paris.", "No, Lyon is lovely, not Paris."),
        ("I use Vim.", "I use Neovim, not Emacs."),
        ("I play the cello.", "I also play the viola, not only the cello."),
        ("I love Paris.", "Did you mean Lyon, not Paris?"),
    ],
)
def test_what_takes_nothing_back_closes_nothing(say: Say, before: str, later: str) -> None:
    say(before, later, on="2025-01-01")
    assert contents(Status.SUPERSEDED) == set()
    assert Entity.objects.filter(name="Anne").count() == ("Anne" in before)
