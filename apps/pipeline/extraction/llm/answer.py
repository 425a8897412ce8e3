"""The objects in the text that a model returned: fenced, within prose, after reasoning, or cut off; not validated."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from apps.pipeline.core.model_calls import AnswerKind, ModelAnswer, StopReason

MOST_OBJECTS = 100  # maximum per answer
MOST_CHARACTERS = 200_000
MOST_STARTS = 50  # maximum of braces that are tried as the start of JSON within prose
MOST_REPAIRS = 5
MOST_LEVELS = 100  # of nesting: deeper values are no memories, and what reads them could exceed its stack
_START = re.compile(r"[{\[]")
_JSON_BEGINS = re.compile(r"[{\[]\s*+(?:[\"{\[]|//|/\*)")
_LIST_BEGINS = re.compile(r"\{\s*\"\w+\"\s*:\s*\[")
_THOUGHT_ENDS = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
# Comments and trailing commas, between strings. Linear: an unclosed string or comment extends to the end of the text.
_STRING = r'"(?:[^"\\]|\\.)*"?'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*+|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*+[}}\]])", re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)  # accepts raw line breaks within strings
_BROKEN = object()


@dataclass(frozen=True, slots=True)
class Parsed:
    """The objects of an answer, the number of further ones beyond the limit, and the ids that it lists beside them."""

    kind: AnswerKind
    objects: tuple[Any, ...] = ()
    passed_over: int = 0
    forget: tuple[str, ...] = ()  # known memories that the user asks to forget
    ends: tuple[tuple[str, str], ...] = ()  # known memories that are over without a new one, with the day or ""


def parse(answer: ModelAnswer) -> Parsed:
    """Parse an answer; no content raises an error.

    1. A list under "memories" or another key, a bare list or one bare memory, alone, fenced or within prose. Of
    several lists the last one counts: those before it are drafts. Reasoning before the answer is skipped.
    2. If the answer was truncated, all objects but the last, which may be incomplete.
    """
    if answer.stop is StopReason.REFUSED:
        return Parsed(AnswerKind.REFUSED)
    text = answer.text[:MOST_CHARACTERS]
    answered = _THOUGHT_ENDS.split(text)[-1]
    for part in dict.fromkeys((answered, text)):
        if found := _last_list(part):
            return found
    value = None
    named = [found.start() for found in _LIST_BEGINS.finditer(answered)]
    start = named[-1] if named else answered.find("[")
    if start >= 0 and (answer.stop is StopReason.TRUNCATED or len(answer.text) > MOST_CHARACTERS):
        try:
            value = from_json(_tidied(answered[start:]).encode("utf-8", "replace"), allow_partial=True)
        except ValueError:
            value = None
    objects = next(iter(value.values()), None) if isinstance(value, dict) else value
    if not isinstance(objects, list):
        return Parsed(AnswerKind.UNPARSABLE)
    return Parsed(AnswerKind.TRUNCATED, _first(objects[:-1]))


def _last_list(text: str) -> Parsed | None:
    """Return the last list of memories, preferably under its own key; parts of broken JSON are none."""
    named: Parsed | None = None
    bare: Parsed | None = None
    is_within_broken = False
    for value in _values_in(text):
        if value is _BROKEN:
            is_within_broken = True
        elif (listed := _named_list(value)) is not None:
            named = _parsed(listed, forget=_forgets(value), ends=_ends(value))
        elif not is_within_broken and (listed := _bare_list(value)) is not None:
            bare = _parsed(listed)
    return named or bare


def _parsed(objects: list[Any], *, forget: tuple[str, ...] = (), ends: tuple[tuple[str, str], ...] = ()) -> Parsed:
    kind = AnswerKind.MEMORIES if objects else AnswerKind.EMPTY
    return Parsed(kind, _first(objects), max(0, len(objects) - MOST_OBJECTS), forget, ends)


def _first(objects: list[Any]) -> tuple[Any, ...]:
    """Return the first objects, None in place of one that is nested too deep."""
    kept = []
    for value in objects[:MOST_OBJECTS]:
        level = [value]
        for _ in range(MOST_LEVELS):
            parts = [
                each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list)
            ]
            level = [inner for part in parts for inner in part]
            if not level:
                break
        kept.append(None if level else value)
    return tuple(kept)


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
            text, place = _tidied(text[place:]), 0
            try:
                value, place = _DECODER.raw_decode(text)
            except (ValueError, RecursionError):
                value, place = _BROKEN, 1
        yield value


def _tidied(text: str) -> str:
    """Return a text without comments and without commas before a closing bracket; nothing else is repaired."""
    for unwanted in (_COMMENT, _TRAILING_COMMA):
        text = unwanted.sub(lambda found: found.group(1) or "", text)
    return text


def _named_list(value: Any) -> list[Any] | None:
    named = value.get("memories") if isinstance(value, dict) else None
    if named is None and (_forgets(value) or _ends(value)):
        return []
    return named if isinstance(named, list) else [named] if _is_memory(named) else None


def _forgets(value: Any) -> tuple[str, ...]:
    listed = value.get("forget") if isinstance(value, dict) else None
    return tuple(each.strip().lower() for each in listed if isinstance(each, str)) if isinstance(listed, list) else ()


def _ends(value: Any) -> tuple[tuple[str, str], ...]:
    """Return the ids listed as over, each with the day that is given for it: "m4", or {"id": "m4", "on": "2024-03"}."""
    listed = value.get("ends") if isinstance(value, dict) else None
    read = [each if isinstance(each, dict) else {"id": each} for each in listed] if isinstance(listed, list) else []
    return tuple(
        (each["id"].strip().lower(), on if isinstance(on := each.get("on"), str) else "")
        for each in read
        if isinstance(each.get("id"), str)
    )


def _bare_list(value: Any) -> list[Any] | None:
    """Return a list of memories under another key or by itself, or a single memory as a list; {} means none."""
    if value == {} or _is_memory(value):
        return [value] if value else []
    if isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    return value if isinstance(value, list) and all(map(_is_memory, value)) else None


def _is_memory(value: Any) -> bool:
    return isinstance(value, dict) and "content" in value and not value.keys().isdisjoint(("type", "evidence"))
