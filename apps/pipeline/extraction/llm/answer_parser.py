"""Answers: from whatever text a model returned to the objects in it, none of which is trusted yet."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pydantic_core import from_json

from apps.pipeline.core.model_calls import AnswerKind, ModelAnswer, StopReason

MOST_OBJECTS = 100  # of one answer; a model that goes on and on says nothing more
MOST_CHARACTERS = 200_000
MOST_STARTS = 20  # braces at which JSON may begin within prose
_START = re.compile(r"[{\[]")
_LIST_KEY = "memories"


@dataclass(frozen=True, slots=True)
class Parsed:
    """The objects of an answer, and how many beyond the limit were not looked at."""

    kind: AnswerKind
    objects: tuple[Any, ...] = ()
    passed_over: int = 0


def parse(answer: ModelAnswer) -> Parsed:
    """Read an answer; nothing in it can raise.

    1. A list under "memories", a bare list or one bare memory, alone, fenced or within prose.
    2. Where it was cut off, all objects but the last: what that one would have said further is not known.
    """
    if answer.stop is StopReason.REFUSED:
        return Parsed(AnswerKind.REFUSED)
    text = answer.text[:MOST_CHARACTERS]
    found = next(_lists_in(text), None)
    if found is not None:
        kind = AnswerKind.MEMORIES if found else AnswerKind.EMPTY
        return Parsed(kind, tuple(found[:MOST_OBJECTS]), max(0, len(found) - MOST_OBJECTS))
    if answer.stop is StopReason.TRUNCATED or len(answer.text) > MOST_CHARACTERS:
        return _parse_cut_off(text)
    return Parsed(AnswerKind.UNPARSABLE)


def _lists_in(text: str) -> Iterator[list[Any]]:
    """Yield the lists of memories in a text; where one is named, a part of it is never taken for the whole."""
    is_named = f'"{_LIST_KEY}"' in text
    for value in _values_in(text):
        objects = _named_list(value) if is_named else _bare_list(value)
        if objects is not None:
            yield objects


def _values_in(text: str) -> Iterator[Any]:
    """Yield the JSON values of a text, looking at its first braces and brackets; what lies within one is no other."""
    decoder = json.JSONDecoder()
    end = 0
    for start in islice(_START.finditer(text), MOST_STARTS):
        if start.start() < end:
            continue
        try:
            value, end = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):  # no JSON from here on, endless digits, or nested without end
            continue
        yield value


def _named_list(value: Any) -> list[Any] | None:
    named = value.get(_LIST_KEY) if isinstance(value, dict) else None
    return named if isinstance(named, list) else None


def _bare_list(value: Any) -> list[Any] | None:
    """Take a list of memories, or a memory by itself, or a list that is empty."""
    objects = value if isinstance(value, list) else [value]
    return objects if all(isinstance(each, dict) and {"type", "content"} <= each.keys() for each in objects) else None


def _parse_cut_off(text: str) -> Parsed:
    start = _START.search(text)
    try:
        value = from_json(text[start.start() :].encode("utf-8", "replace"), allow_partial=True) if start else None
    except ValueError:
        return Parsed(AnswerKind.UNPARSABLE)
    objects = _named_list(value)
    if objects is None:
        return Parsed(AnswerKind.UNPARSABLE)
    return Parsed(AnswerKind.TRUNCATED, tuple(objects[:-1][:MOST_OBJECTS]))
