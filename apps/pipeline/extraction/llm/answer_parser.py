"""Parsing of answers: from the text that a model returned to the objects in it, which are not validated yet."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from apps.pipeline.core.model_calls import AnswerKind, ModelAnswer, StopReason
from apps.pipeline.extraction.llm.json_repair import tidied

MOST_OBJECTS = 100  # maximum per answer
MOST_CHARACTERS = 200_000
MOST_STARTS = 50  # maximum of braces that are tried as the start of JSON within prose
MOST_REPAIRS = 5
MOST_LEVELS = 100  # of nesting: deeper values are no memories, and what reads them could exceed its stack
_START = re.compile(r"[{\[]")
_JSON_BEGINS = re.compile(r"[{\[]\s*+(?:[\"{\[]|//|/\*)")
_LIST_BEGINS = re.compile(r"\{\s*\"\w+\"\s*:\s*\[")
_THOUGHT_ENDS = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_LIST_KEY, _FORGET_KEY = "memories", "forget"
_DECODER = json.JSONDecoder(strict=False)  # accepts raw line breaks within strings


@dataclass(frozen=True, slots=True)
class Parsed:
    """The objects of an answer, and the number of further ones beyond the limit."""

    kind: AnswerKind
    objects: tuple[Any, ...] = ()
    passed_over: int = 0
    forget: tuple[str, ...] = ()  # ids of known memories that the user asks to forget


@dataclass(frozen=True, slots=True)
class _FoundList:
    """A list of memories, and whether it has the expected key."""

    objects: list[Any]
    is_named: bool
    forget: tuple[str, ...] = ()


def parse(answer: ModelAnswer) -> Parsed:
    """Parse an answer; no content raises an error.

    1. A list under "memories" or another key, a bare list or one bare memory, alone, fenced or within prose. Of
    several lists the last one counts: those before it are drafts. Reasoning before the answer is skipped.
    2. If the answer was truncated, all objects but the last, which may be incomplete.
    """
    if answer.stop is StopReason.REFUSED:
        return Parsed(AnswerKind.REFUSED)
    text = answer.text[:MOST_CHARACTERS]
    answered = _without_thoughts(text)
    found = _last_list(answered) or (_last_list(text) if answered != text else None)
    if found is not None:
        kind = AnswerKind.MEMORIES if found.objects else AnswerKind.EMPTY
        return Parsed(kind, _first_objects(found.objects), max(0, len(found.objects) - MOST_OBJECTS), found.forget)
    if answer.stop is StopReason.TRUNCATED or len(answer.text) > MOST_CHARACTERS:
        return _parse_cut_off(answered)
    return Parsed(AnswerKind.UNPARSABLE)


def _first_objects(objects: list[Any]) -> tuple[Any, ...]:
    """Return the first objects, None in place of one that is nested too deep."""
    return tuple(None if _is_too_deep(each) else each for each in objects[:MOST_OBJECTS])


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MOST_LEVELS):
        level = [inner for each in level for inner in _members(each)]
        if not level:
            return False
    return True


def _members(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _without_thoughts(text: str) -> str:
    return _THOUGHT_ENDS.split(text)[-1]


def _last_list(text: str) -> _FoundList | None:
    """Return the last list of memories, preferably with the expected key."""
    found = list(_lists_in(text))
    named = [each for each in found if each.is_named]
    return next(reversed(named or found), None)


def _lists_in(text: str) -> Iterator[_FoundList]:
    """Yield the lists of memories in a text, except parts of broken JSON."""
    is_within_broken = False
    for value in _values_in(text):
        if value is _BROKEN:
            is_within_broken = True
        elif (named := _named_list(value)) is not None:
            yield _FoundList(named, is_named=True, forget=_forget_in(value))
        elif not is_within_broken and (bare := _bare_list(value)) is not None:
            yield _FoundList(bare, is_named=False)


_BROKEN = object()


def _values_in(text: str) -> Iterator[Any]:
    """Yield the outermost JSON values of a text in order, and _BROKEN for broken JSON."""
    place = repairs = 0
    for _ in range(MOST_STARTS):
        start = _START.search(text, place)
        if start is None:
            return
        place = start.start()
        try:
            value, place = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):  # no JSON from here on, too many digits, or too deep nesting
            if not _JSON_BEGINS.match(text, place) or repairs == MOST_REPAIRS:
                place += 1
                continue
            repairs += 1
            text, place = tidied(text[place:]), 0
            try:
                value, place = _DECODER.raw_decode(text)
            except (ValueError, RecursionError):
                value, place = _BROKEN, 1
        yield value


def _named_list(value: Any) -> list[Any] | None:
    named = value.get(_LIST_KEY) if isinstance(value, dict) else None
    if _is_memory(named):
        return [named]
    if named is None and _forget_in(value):
        return []
    return named if isinstance(named, list) else None


def _forget_in(value: Any) -> tuple[str, ...]:
    """Return the ids under "forget"."""
    asked = value.get(_FORGET_KEY) if isinstance(value, dict) else None
    return tuple(each for each in asked if isinstance(each, str))[:MOST_OBJECTS] if isinstance(asked, list) else ()


def _bare_list(value: Any) -> list[Any] | None:
    """Return a list of memories under another key or by itself, or a single memory as a list; {} means none."""
    if value == {} or _is_memory(value):
        return [value] if value else []
    if isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    return value if isinstance(value, list) and all(map(_is_memory, value)) else None


def _is_memory(value: Any) -> bool:
    return isinstance(value, dict) and {"type", "content"} <= value.keys()


def _parse_cut_off(text: str) -> Parsed:
    named = [found.start() for found in _LIST_BEGINS.finditer(text)]
    start = named[-1] if named else text.find("[")
    try:
        value = from_json(tidied(text[start:]).encode("utf-8", "replace"), allow_partial=True) if start >= 0 else None
    except ValueError:
        return Parsed(AnswerKind.UNPARSABLE)
    objects = next(iter(value.values()), None) if isinstance(value, dict) else value
    if not isinstance(objects, list):
        return Parsed(AnswerKind.UNPARSABLE)
    return Parsed(AnswerKind.TRUNCATED, _first_objects(objects[:-1]))
