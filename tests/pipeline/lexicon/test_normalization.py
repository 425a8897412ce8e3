"""Normalization rewrites variants of English to one form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.pipeline.lexicon.normalization import normalize


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("User was fond of jazz.", "User liked jazz."),
        ("User isn't keen on jazz.", "User dislikes jazz."),
        ("User runs every day.", "User runs daily."),
        ("User stayed for a week.", "User stayed for a week."),
        ("User is really tall.", "User is tall."),
        ("User has thirty-four books.", "User has 34 books."),
        ("User won two hundred euros.", "User won 200 euros."),
        ("User swims on the 3rd.", "User swims on the 3."),
        ("The exam is on 2024-03-05.", "The exam is on 5 March 2024."),
        ("The exam is on 5.3.2024.", "The exam is on 5 March 2024."),
        ("Class begins at half past six.", "Class begins at 6:30."),
        ("Class begins at 7 p.m. sharp.", "Class begins at 19:00 sharp."),
        ("User's age is 52.", "User is 52."),
        ("The report was written by Nina.", "Nina written The report."),
        ("User wohnt seit drei Jahren in Kassel.", "User wohnt seit drei Jahren in Kassel."),
    ],
)
def test_normalizes(text: str, normal: str) -> None:
    assert normalize(text) == normal


@given(st.text(max_size=80))
def test_any_text_is_normalized(text: str) -> None:
    assert isinstance(normalize(text), str)
