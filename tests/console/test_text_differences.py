"""The words in which two statements differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.review.text_differences import MOST_WORDS, compared_texts


def marked(one: str, other: str) -> tuple[str, str]:
    """Return both texts with brackets around what differs."""
    one_parts, other_parts = compared_texts(one, other)
    texts = [
        "".join(f"[{each.text}]" if each.differs else each.text for each in parts) for parts in (one_parts, other_parts)
    ]
    return texts[0], texts[1]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Rui lives in Porto.", "Rui lives in Braga.", ("Rui lives in [Porto].", "Rui lives in [Braga].")),
        ("Rui likes tea.", "Rui likes green tea.", ("Rui likes tea.", "Rui likes [green] tea.")),
        ("rui likes tea.", "Rui likes tea.", ("rui likes tea.", "Rui likes tea.")),
        ("Rui drinks a lot.", "Rui hates all tea.", ("Rui [drinks a lot].", "Rui [hates all tea].")),
        ("", "Rui.", ("", "[Rui.]")),
        ("<b>tea</b>", "<i>tea</i>", ("<[b]>tea</[b]>", "<[i]>tea</[i]>")),
    ],
)
def test_what_differs_is_marked(one: str, other: str, expected: tuple[str, str]) -> None:
    assert marked(one, other) == expected


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_character_is_lost(one: str, other: str) -> None:
    parts = compared_texts(one, other)
    assert tuple("".join(each.text for each in side) for side in parts) == (one, other)


def test_long_texts_are_left_whole() -> None:
    long = "word " * (MOST_WORDS + 1)
    assert marked(long, "short") == (long, "short")
