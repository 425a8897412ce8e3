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
        ("Could you please forget about my knee?", {"knee"}),
        ("can u forget where i live", {"live"}),
        ("Please delete my phone number from your memory.", {"phone"}),
        ("Forget that Tom is ill.", {"tom", "ill"}),
        ("Please forget about my knee. What's for dinner?", {"knee"}),
        ("Forget my address. Thank you!", {"address"}),
        ("Delete my diet from your notes. Let's have pizza.", {"diet"}),
    ],
)
def test_a_request_names_what_is_to_be_forgotten(text: str, words: set[str]) -> None:
    (request,) = requests(text)
    assert request.words == words
    assert request.is_plain


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Forget my diet, let's have pizza.", {"diet"}),
        ("Forget my diet! Let's have pizza tonight.", {"diet"}),
        ("Forget my diet. Let's have pizza.", {"diet"}),
        ("Forget my birthday?", {"birthday"}),
        ("Forget about my mother.", {"mother"}),
        ("Forget all about my mother.", {"mother"}),
    ],
)
def test_what_may_mean_something_else_is_not_plain(text: str, words: set[str]) -> None:
    (request,) = requests(text)
    assert not request.is_plain
    assert request.words == words


def test_several_requests_in_a_row_are_plain() -> None:
    assert [each.is_plain for each in requests("Forget my address. Forget my phone number.")] == [True, True]


def test_a_statement_is_named_whatever_follows() -> None:
    (request,) = requests("Forget that I live in Lyon. Let's have pizza.")
    assert request.is_plain


@pytest.mark.parametrize(
    "text",
    [
        "Forget it.",
        "Also don't remember where I left my keys.",
        "Forget everything I said.",
        "Don't forget my birthday.",
        "Don't remember my peanut allergy? I told you last week.",
        "So you don't remember my birthday?",
        "Never forget that I'm allergic to nuts.",
        "I forgot my umbrella.",
        "Forget Paris, let's go to Rome.",
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
