"""Validation of names, content, times and JSON from outside."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.pipeline.core.input_validation import (
    BadInput,
    TooLarge,
    check_json,
    checked_moment,
    checked_name,
    checked_said_at,
    cleaned_text,
)

NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize("name", ["ana", "a b", " a", "Zoë", "👩‍👩‍👧", "محمد\u200f", "a/b~c", ""])
def test_names_that_pass_unchanged(name: str) -> None:
    assert checked_name(name, at="/x") == name


@pytest.mark.parametrize(
    "name",
    [
        *["\0", "a\nb", "a\tb", "\x7f", "\x85", "a\u2028", "\u202ea", "\u2066a", "\ud800", "  "],
        *["\u200b", "an\u200ba", "\u200d\u200c", "\u2800", "\ufe0f", "ana\ufeff", "an\u00ada", "ana\U000e0041"],
    ],
)
def test_names_that_are_refused(name: str) -> None:
    with pytest.raises(BadInput) as refused:
        checked_name(name, at="/x")
    assert refused.value.at == "/x"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("tab\tline\r\nline", "tab\tline\r\nline"),
        ("bell\x07 escape\x1b[1m delete\x7f c1\x9b", "bell escape[1m delete c1"),
        (
            "vertical\x0btab form\x0cfeed\u2028line\u2029paragraph\x85next",
            "vertical\ntab form\nfeed\nline\nparagraph\nnext",
        ),
        ("\u202edesrever\u202c \u2066isolated\u2069", "desrever isolated"),
        ("marks\u200e\u200f می\u200cخواهم 👩\u200d👧", "marks\u200e\u200f می\u200cخواهم 👩\u200d👧"),
        ("ig\u200bnore pre\u200dvious \u200cwords\u200d", "ignore previous words"),
        ("hi\U000e0041\U000e0042 \ufeffthere\u00ad\u2060", "hi there"),
        ("heart ❤\ufe0f, data 😀\ufe0f\U000e0120\U000e0121", "heart ❤\ufe0f, data 😀\ufe0f"),
    ],
)
def test_content_keeps_its_words(given: str, kept: str) -> None:
    assert cleaned_text(given, at="/x", most=100) == kept


@pytest.mark.parametrize(
    "text", ["a\0", "a\ud800", "\udfff", "", " \n", "\x07\x1b", "\u200b\u200b", "\u200d", "\u2800", "\U000e0041"]
)
def test_content_that_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        cleaned_text(text, at="/x", most=100)


def test_too_much_content_is_another_error() -> None:
    assert cleaned_text("x" * 100, at="/x", most=100)
    with pytest.raises(TooLarge):
        cleaned_text("x" * 101, at="/x", most=100)


@given(st.text(min_size=1, max_size=50))
def test_clean_content_can_be_stored_and_stays_clean(text: str) -> None:
    try:
        cleaned = cleaned_text(text, at="", most=50)
    except BadInput:
        return
    cleaned.encode()
    assert "\0" not in cleaned
    assert cleaned_text(cleaned, at="", most=50) == cleaned


@pytest.mark.parametrize(
    ("moment", "fits"),
    [
        (datetime(1900, 1, 1, tzinfo=UTC), True),
        (datetime(1899, 12, 31, 23, 59, tzinfo=UTC), False),
        (NOW + timedelta(days=366), True),
        (NOW + timedelta(days=367), False),
        (datetime.min.replace(tzinfo=UTC), False),
        (datetime.max.replace(tzinfo=UTC), False),
    ],
)
def test_when_something_can_have_been_said(moment: datetime, fits: bool) -> None:
    if fits:
        assert checked_said_at(moment, at="/x", now=NOW) == min(moment, NOW)
    else:
        with pytest.raises(BadInput):
            checked_said_at(moment, at="/x", now=NOW)


@pytest.mark.parametrize(("ahead", "kept"), [(4, 4), (5, 5), (6, 0), (60 * 24, 0)])
def test_a_time_ahead_of_the_clock_becomes_now(ahead: int, kept: int) -> None:
    """Times in minutes ahead of the clock; a small skew stays."""
    said_at = checked_said_at(NOW + timedelta(minutes=ahead), at="/x", now=NOW)
    assert said_at == NOW + timedelta(minutes=kept)


def test_other_times() -> None:
    assert checked_moment(None, at="/x") is None
    assert checked_moment(datetime(2030, 1, 1), at="/x") == datetime(2030, 1, 1, tzinfo=UTC)  # noqa: DTZ001
    with pytest.raises(BadInput):
        checked_moment(datetime(2600, 1, 1, tzinfo=UTC), at="/x")


@pytest.mark.parametrize(
    ("value", "at"),
    [
        ({"a": [1, {"b/c": "x\0"}]}, "/a/1/b~1c"),
        ({"a": float("inf")}, "/a"),
        ({"a": float("nan")}, "/a"),
        ({"a": {"\ud800": 1}}, "/a"),
        ([[[1]]], "/0/0"),
    ],
)
def test_json_that_is_refused(value: Any, at: str) -> None:
    with pytest.raises(BadInput) as refused:
        check_json(value, max_depth=2 if isinstance(value, list) else 32)
    assert refused.value.at == at


def test_json_of_any_size_is_looked_at_without_recursion() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]

    with pytest.raises(BadInput, match="nested"):
        check_json(deep)
