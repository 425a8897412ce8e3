"""Small talk is distinguished from turns that may be worth remembering; doubtful turns are no small talk."""

from apps.pipeline.extraction.small_talk_filter import MOST_CHARACTERS, tells_something
from tests.pipeline.builders import turn

SMALL_TALK = (
    "Thanks!",
    "What do you think of it?",
    "What is the capital of France?",
    "Can you rewrite this mail?",
    "Could you tell me more about it?",
    "How does that work?",
)
TELLING = (
    "I live in Ghent.",
    "My sister is here, isn't that great?",
    "She's a nurse.",
    "Tom loves hiking.",
    "The deploy script lives in tools.",
    "I own boat number 2.",
    "i start my new job on monday",
    "Allergic to nuts.",
    "Let's go with PostgreSQL.",
    "I hope to become a vet.",
    "Don't use emojis.",
    "Please be brief.",
    "Ich wohne in Bremen.",
    "J'habite à Lyon.",
    "我住在上海。",
    "Живу в Риге.",
)


def tells(text: str, *, before: str = "") -> bool:
    return tells_something(turn(text, position=1), before=turn(before) if before else None)


def test_small_talk_tells_nothing_and_statements_tell_something() -> None:
    assert [text for text in SMALL_TALK if tells(text)] == []
    assert [text for text in TELLING if not tells(text)] == []


def test_an_answer_tells_something() -> None:
    assert tells("Thanks!", before="Are you still a vegetarian?")
    assert not tells("Thanks!", before="Rome is the capital of Italy.")


def test_a_long_turn_tells_something() -> None:
    assert tells("Thanks! " * (MOST_CHARACTERS // 8 + 1))
