"""Small talk is distinguished from turns that may be worth remembering; doubtful turns are no small talk."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.pipeline.extraction.small_talk_filter import MOST_CHARACTERS, tells_something
from tests.pipeline.builders import turn


def tells(text: str, *, before: str = "") -> bool:
    return tells_something(turn(text, position=1), before=turn(before) if before else None)


@pytest.mark.parametrize(
    "text",
    [
        "What do you think of it?",
        "Do you know any good films?",
        "Wow, that's awesome! Where did you find it?",
        "Hey Jon! Your painting looks amazing. How long did it take?",
        "I'm so proud of you, keep it up!",
        "Congrats on the promotion! You deserve it.",
        "No worries, take your time!",
        "Hmm, let me know how it goes.",
        "Those posters are great!",
        "Thanks for the tip, I'll check it out.",
        "That must have been tough. I'm here for you.",
        "Could you tell me more about it?",
    ],
)
def test_small_talk_tells_nothing(text: str) -> None:
    assert not tells(text)


@pytest.mark.parametrize(
    "text",
    [
        "I live in Ghent.",
        "My sister is here, isn't that great?",
        "Great, we moved to Rome.",
        "She's a nurse.",
        "Tom loves hiking.",
        "It's Anna's birthday.",
        "The deploy script lives in tools.",
        "Allergic to nuts.",
        "Do you know my cat Tom?",
        "What if I were a doctor?",
        "Wanna meet on Monday?",
        "How about 4 o'clock?",
        "Let's go with PostgreSQL.",
        "No, pytest not unittest.",
        "Good thing Anna moved out.",
        "I'm sure my visa expires soon.",
        "I hope to become a vet.",
    ],
)
def test_statements_tell_something(text: str) -> None:
    assert tells(text)


@pytest.mark.parametrize(
    "text",
    [
        "Keep it short please.",
        "Your answers are too long.",
        "You should use metric units.",
        "Would you mind always answering in French?",
        "Can you call me Bob?",
        "Make it shorter.",
        "Don't use emojis.",
        "Please be brief.",
        "Use tabs.",
    ],
)
def test_wishes_how_to_be_spoken_to_tell_something(text: str) -> None:
    assert tells(text)


@pytest.mark.parametrize(
    "text", ["Ich wohne in Bremen.", "Wo wohnst du?", "J'habite à Lyon.", "我住在上海。", "Живу в Риге."]
)
def test_other_languages_tell_something(text: str) -> None:
    assert tells(text)


@pytest.mark.parametrize("text", ["Look: `x = 1`", 'Nice, "I moved to Rome" is the title!', "Great, see https://x.y/z"])
def test_what_a_turn_holds_beside_sentences_tells_something(text: str) -> None:
    assert tells(text)


@pytest.mark.parametrize(
    ("text", "before", "expected"),
    [
        ("Yes, that's right.", "Are you still a vegetarian?", True),
        ("Yes, that's right.", "Rome is the capital of Italy.", False),
        ("Max!", "What is your dog called?", True),
        ("Vegan.", "", True),
        ("That's a good question!", "What do you do?", False),
    ],
)
def test_an_answer_tells_something(text: str, before: str, expected: bool) -> None:
    assert tells(text, before=before) is expected


def test_a_long_turn_tells_something() -> None:
    praise = "You're so strong! "
    assert not tells(praise)
    assert tells(praise * (MOST_CHARACTERS // len(praise) + 1))


@given(text=st.text(max_size=300))
def test_any_text_is_judged(text: str) -> None:
    assert tells(text) in (True, False)
