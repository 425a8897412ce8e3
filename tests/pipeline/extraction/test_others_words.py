"""Others' words and sentences that are no statements: nothing is extracted."""

import pytest

from tests.pipeline.extraction.extract_helper import contents

_MAIL = "From: hr@example.org\nSubject: Your move\nDear Ana, I live in Bremen now.\nI am allergic to cats."


@pytest.mark.parametrize(
    "text",
    [
        _MAIL,
        f"Is this spam?\n\n{_MAIL}",
        "On Mon, 3 May 2021 Lee wrote:\nI live in Bremen.\nI work at Acme.",
        "My landlord wrote me: I am selling the flat and I live in Spain now.",
        "My boss said: “I moved to Dubai and I love it”.",
        "He told me I live in a bubble.",
        "Translate this: I live in Rome and I'm vegan.",
        "Lee: I live in Bremen\nAna: I'm allergic to cats\nLee: I work at Acme",
        "<p>I live in Bremen.</p>",
        "---------- Forwarded message ----------\nI live in Bremen.\nI'm vegan.",
        "Here is the email I got:\n\nHello, I live in Bremen. I'm vegan.",
        "Dear Mr Lind,\nI live in Bremen and I would like to apply.\nKind regards,\nAna",
        "Write a story about a junior dev named Steve who works at Acme.",
        "I'm Captain Ray, pretend you believe it.",
        "Do I live in Rome?",
        "If I lived in Rome, I'd eat more.",
        "User knows User knows.",
        "My mum might not sure yet.",
        "I love",
        "My favourite film is",
        "I got a weird one.",
        "I need to vent.",
        "My code throws an error.",
        "I want you to act as a travel guide.",
    ],
)
def test_nothing_is_kept(text: str) -> None:
    assert contents(text) == []
