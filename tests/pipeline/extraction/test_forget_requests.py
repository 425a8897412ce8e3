"""Which sentences ask to forget something, and what they name."""

import pytest

from apps.pipeline.core.draft import Draft, ForgetRequest
from apps.pipeline.core.enums import Role
from apps.pipeline.extraction.forget_requests import with_forget_requests
from tests.pipeline.builders import draft_of, turn


def requests(text: str, *, role: Role = Role.USER) -> tuple[ForgetRequest, ...]:
    draft: Draft = draft_of([], turns=[turn(text, role=role)])
    return with_forget_requests(draft).forget_requests


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Please forget my address.", {"address"}),
        ("can u forget where i live", {"live"}),
        ("Please delete my phone number from your memory.", {"phone"}),
        ("Could you please forget about my knee?", {"knee"}),
        ("Forget that Tom is ill.", {"tom", "ill"}),
        ("Please forget about my knee. What's for dinner?", {"knee"}),
        ("Delete my diet from your notes. Let's have pizza.", {"diet"}),
        ("Forget my address. Thank you!", {"address"}),
    ],
)
def test_a_request_names_what_is_to_be_forgotten(text: str, words: set[str]) -> None:
    (request,) = requests(text)
    assert request.words == words
    assert request.is_plain


def test_a_request_that_names_nothing_means_what_was_said_before_it() -> None:
    request = requests("I take sertraline, as you know. Can you delete that again?")[-1]
    assert "sertralin" in request.words
    assert not request.is_plain
    assert not request.points


@pytest.mark.parametrize(
    "text",
    [
        "Forget my diet, let's have pizza.",
        "Forget my diet. Let's have pizza.",
        "Forget about my mother.",
        "Forget all about my mother.",
    ],
)
def test_what_may_mean_something_else_is_for_a_person(text: str) -> None:
    (request,) = requests(text)
    assert {"diet", "mother"} & request.words
    assert not request.is_plain


@pytest.mark.parametrize("text", ["Forget my diet! Let's have pizza tonight.", "Forget my birthday?"])
def test_what_is_hardly_a_request_takes_nothing_back(text: str) -> None:
    assert not any(each.is_plain for each in requests(text))


def test_a_statement_is_named_whatever_follows() -> None:
    (request,) = requests("Forget that I live in Lyon. Let's have pizza.")
    assert request.is_plain


def test_several_requests_in_a_row_are_plain() -> None:
    assert [each.is_plain for each in requests("Forget my address. Forget my phone number.")] == [True, True]


def test_a_request_for_everything_names_all() -> None:
    (request,) = requests("Please forget everything you know about me.")
    assert request.names_all


def test_of_several_speakers_a_person_decides() -> None:
    draft = draft_of([], turns=[turn("Please forget my address.", speaker="Tom")])
    assert [each.is_plain for each in with_forget_requests(draft).forget_requests] == [False]


@pytest.mark.parametrize(
    "text",
    [
        "Also don't remember where I left my keys.",
        "Don't forget my birthday.",
        "Don't remember my peanut allergy? I told you last week.",
        "Never forget that I'm allergic to nuts.",
        "I forgot my umbrella.",
        "Forget Paris, let's go to Rome.",
        "Forget it.",
        "So you don't remember my birthday?",
        "Forget my diet for today.",
        "Delete my draft.",
        "She wrote: 'Please forget my address.'",
        "> Please forget my address.",
    ],
)
def test_no_request(text: str) -> None:
    assert requests(text) == ()


def test_only_the_user_asks() -> None:
    assert requests("Please forget my address.", role=Role.ASSISTANT) == ()
