"""The speech act of a sentence: imagined and played claims are marked, others are not."""

import pytest

from apps.pipeline.core.confidence import confidence_of
from apps.pipeline.core.enums import SpeechAct
from apps.pipeline.core.policy import ConfidencePolicy
from tests.pipeline.extraction.extract_helper import contents, said


@pytest.mark.parametrize(
    ("text", "content", "speech_act"),
    [
        ("What if I were a doctor?", "User is a doctor.", SpeechAct.HYPOTHETICAL),
        ("What if I worked at Arrive?", "User works at Arrive.", SpeechAct.HYPOTHETICAL),
        ("Imagine I live in Tokyo.", "User lives in Tokyo.", SpeechAct.HYPOTHETICAL),
        ("Let's say I'm vegan.", "User is vegan.", SpeechAct.HYPOTHETICAL),
        ("I'm basically a lawyer.", "User is a lawyer.", SpeechAct.HYPOTHETICAL),
        ("I'm actually a doctor, so walk me through it.", "User is a doctor.", SpeechAct.HYPOTHETICAL),
        ("Pretend I'm a pirate.", "User is a pirate.", SpeechAct.ROLEPLAY),
        ("In this story, I'm a detective.", "User is a detective.", SpeechAct.ROLEPLAY),
        ("Actually, I live in Munich.", "User lives in Munich.", SpeechAct.ASSERTED),
    ],
)
def test_speech_act(text: str, content: str, speech_act: SpeechAct) -> None:
    (found,) = said(text)
    assert (found.content, found.speech_act) == (content, speech_act)


def test_what_is_not_asserted_stays_at_or_below_the_cap() -> None:
    policy = ConfidencePolicy()
    (found,) = said("I'm actually a doctor, so walk me through the mechanism more technically.")
    confidence = confidence_of(found, policy=policy)
    assert confidence.value <= policy.not_asserted_cap


@pytest.mark.parametrize(
    "text",
    [
        "Do I live in Rome?",
        "Should I move to Rome?",
        "If I lived in Rome, I would be happy.",
        "I wish I had a dog.",
        "I would have moved to Rome.",
        "Oh great, another Monday meeting.",
        "Just what I needed, a flat tyre.",
        "Oh great, another Monday meeting. I simply adore sitting in meetings.",
        'Lena said "I hate living in Rome".',
        "> I live in Rome",
        "```\nI live in Rome\n```",
        "What if we met at noon?",
        "Imagine that!",
        "How do I say I love you?",
    ],
)
def test_nothing_is_taken_from_questions_wishes_mockery_quotes_and_code(text: str) -> None:
    assert contents(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm allergic to peanuts, remember? What can I eat?", ["User is allergic to peanuts."]),
        ("```python\nx = 1\n```\nI use Python.", ["User uses Python."]),
        ('I visited "The Maze" last year.', ['User visited "The Maze" last year.']),
        ("Dr. Weber says hi. I live in St. Gallen.", ["User lives in St. Gallen."]),
    ],
)
def test_what_stands_beside_them_is_taken(text: str, expected: list[str]) -> None:
    assert contents(text) == expected
