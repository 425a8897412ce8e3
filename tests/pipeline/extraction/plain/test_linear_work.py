"""Work is linear in the length of a message, and bounded by the policy."""

import sys
from itertools import islice
from random import Random
from typing import Any

from benchmarks.hostile_texts import KNOWN, LENGTH, hostile_texts
from tests.pipeline.extraction.plain.plain_helper import POLICY, told

_TEXTS = [*KNOWN, *islice(hostile_texts(Random(3)), len(KNOWN), 40)]


def test_twice_the_text_is_at_most_twice_the_work() -> None:
    middle = LENGTH // 2
    slow = [
        text
        for text in _TEXTS
        if _calls(text[:LENGTH]) > 2.5 * max(_calls(text[:middle]), _calls(text[middle:LENGTH])) + 3_500
    ]
    assert slow == []


def test_work_is_bounded() -> None:
    sentences = " ".join(f"My sister {number} likes tea{number}." for number in range(1_000))
    longest = POLICY.max_turn_characters
    assert _calls(sentences) <= _calls(sentences[:longest]) + 1_000
    assert max(map(_calls, _TEXTS)) < 40_000


def _calls(text: str) -> int:
    """Count the calls, of built-in functions too, that reading a text takes."""
    count = 0

    def counting(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    told(text)  # fills what is computed once
    before = sys.getprofile()
    sys.setprofile(counting)
    try:
        told(text)
    finally:
        sys.setprofile(before)
    return count
