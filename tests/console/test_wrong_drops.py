"""When the quote of a later memory proves that a dropped turn was worth keeping."""

import pytest

from apps.tuning.views.rules import says_again


@pytest.mark.parametrize(
    ("dropped", "quote", "expected"),
    [
        ("thanks to Marta!", "It went well, THANKS to Marta.", True),
        ("Porto", "Porto.", True),
        ("live in", "I live in Porto.", False),  # too few words to prove anything
        ("thanks to Mar", "thanks to Marta", False),  # only whole words
        ("yes", "no", False),
        ("!!", "!!", False),
        ("", "", False),
    ],
)
def test_words_are_said_again(dropped: str, quote: str, expected: bool) -> None:
    assert says_again(dropped, quote) is expected
