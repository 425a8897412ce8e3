"""Work is linear in the length of the text: no expression has a repetition inside a repetition."""

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from random import Random
from re import _constants as signs  # type: ignore[attr-defined]  # the stubs leave out private modules
from re import _parser as parser  # type: ignore[attr-defined]  # no public module parses expressions
from typing import Any

import pytest

from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.extraction.forget_requests import with_forget_requests
from apps.pipeline.extraction.not_to_store import without_unwanted
from apps.pipeline.extraction.small_talk_filter import tells_something
from apps.pipeline.redaction.redact import holds_secret
from benchmarks.hostile_texts import KNOWN, LENGTH, hostile_texts
from tests.pipeline.builders import draft_of, turn
from tests.pipeline.extraction.extract_helper import said

_PACKAGES = (
    "conflict",
    "deduplication",
    "direct_write",
    "extraction",
    "language",
    "lexicon",
    "prefilter",
    "provenance",
    "redaction",
    "resolution",
)
_BACKTRACKING = (signs.MAX_REPEAT, signs.MIN_REPEAT)
_TEXTS = [*KNOWN, *islice(hostile_texts(Random(3)), len(KNOWN), 40)]


def _expressions() -> Iterator[tuple[str, "re.Pattern[str]"]]:
    """Yield the backtracking expressions of all modules that read texts; RE2's are linear by design."""
    for package in (importlib.import_module(f"apps.pipeline.{name}") for name in _PACKAGES):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            module = importlib.import_module(found.name)
            for name, value in vars(module).items():
                yield from ((f"{found.name}.{name}", each) for each in _patterns_in(value))


def _patterns_in(value: Any) -> Iterator["re.Pattern[str]"]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _patterns_in(each)
    elif isinstance(getattr(value, "pattern", None), re.Pattern):
        yield value.pattern


def _nodes(parsed: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    for sign, value in parsed:
        yield sign, value
        for inner in _inner(sign, value):
            yield from _nodes(inner)


def _inner(sign: Any, value: Any) -> Iterable[Any]:
    if sign in (*_BACKTRACKING, signs.POSSESSIVE_REPEAT):
        return (value[2],)
    if sign is signs.SUBPATTERN:
        return (value[3],)
    if sign is signs.BRANCH:
        return tuple(value[1])
    if sign in (signs.ASSERT, signs.ASSERT_NOT):
        return (value[1],)
    return ()


def _is_unbounded(sign: Any, value: Any) -> bool:
    return sign in _BACKTRACKING and value[1] is signs.MAXREPEAT


def test_no_expression_repeats_a_repetition() -> None:
    expressions = dict(_expressions())
    assert len(expressions) > 80
    nested = [
        name
        for name, each in expressions.items()
        for sign, value in _nodes(parser.parse(each.pattern, each.flags))
        if _is_unbounded(sign, value) and any(_is_unbounded(*node) for node in _nodes(value[2]))
    ]
    assert nested == []


def test_no_group_is_repeated_possessively() -> None:
    """Before Python 3.11.5, such a group keeps what it read of a repetition that failed (cpython, issue 106052)."""
    groups = [
        name
        for name, each in _expressions()
        for sign, value in _nodes(parser.parse(each.pattern, each.flags))
        if sign is signs.POSSESSIVE_REPEAT and not _is_one_character(value[2])
    ]
    assert groups == []


def _is_one_character(repeated: Any) -> bool:
    return len(repeated) == 1 and repeated[0][0] in (signs.IN, signs.LITERAL, signs.NOT_LITERAL, signs.ANY)


def _calls(text: str) -> int:
    """Count the calls, of built-in functions too, that reading a text takes."""
    count = 0

    def counting(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    said(text)  # fills what is computed once
    before = sys.getprofile()
    sys.setprofile(counting)
    try:
        said(text)
        holds_secret(text)
        tells_something(turn(text), before=None)
        without_unwanted([with_forget_requests(draft_of([], turns=[turn(text)]))])
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("text", _TEXTS, ids=range(len(_TEXTS)))
def test_twice_the_text_is_at_most_twice_the_work(text: str) -> None:
    middle = LENGTH // 2
    half, whole = max(_calls(text[:middle]), _calls(text[middle:LENGTH])), _calls(text[:LENGTH])
    assert whole <= 2.5 * half + 3_500


def test_work_is_bounded() -> None:
    sentences = " ".join(f"My sister {number} likes tea{number}." for number in range(1_000))
    longest = ExtractionPolicy().max_turn_characters
    assert _calls(sentences) <= _calls(sentences[:longest]) + 1_000
    assert max(map(_calls, _TEXTS)) < 100_000
