"""The elements of a JSON document, each decoded when it is reached."""

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from apps.imports.readers.entries import ImportProblem

_DECODER = json.JSONDecoder()
_BLANK = re.compile(r"[ \t\r\n]*")


def json_elements(content: bytes, *, lists: Collection[str] = ()) -> Iterator[tuple[int, Any] | ImportProblem]:
    """Yield the elements, numbered from 1, of a list, or of an object's list under one of the names.

    An object without such a list is the only element. What follows the first place that is not JSON is lost, with a
    problem.
    """
    number = 0
    try:
        for value in _elements(content.decode("utf-8-sig"), lists):
            number += 1
            yield number, value
    except UnicodeDecodeError:
        yield ImportProblem("the file", "is not UTF-8")
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "a value is too large or nested too deeply"
        yield ImportProblem(f"after element {number}" if number else "the file", f"is not JSON: {reason}")


def _elements(text: str, lists: Collection[str]) -> Iterator[Any]:
    """Raise ValueError or RecursionError at the first place that can't be read."""
    place = _after_blank(text, 0)
    if text.startswith("[", place):
        yield from _listed(text, place)
        return
    document, end = _DECODER.raw_decode(text, place)
    _check_end(text, _after_blank(text, end))
    if not isinstance(document, dict):
        raise json.JSONDecodeError("neither a list nor an object", text, place)
    found = next((document[name] for name in lists if isinstance(document.get(name), list)), None)
    yield from [document] if found is None else found


def _listed(text: str, place: int) -> Iterator[Any]:
    place = _after_blank(text, place + 1)
    is_open = not text.startswith("]", place)
    while is_open:
        value, place = _DECODER.raw_decode(text, place)
        yield value
        place = _after_blank(text, place)
        is_open = text.startswith(",", place)
        if is_open:
            place = _after_blank(text, place + 1)
    if not text.startswith("]", place):
        raise json.JSONDecodeError("Expecting ',' or ']'", text, place)
    _check_end(text, _after_blank(text, place + 1))


def _after_blank(text: str, place: int) -> int:
    match = _BLANK.match(text, place)
    return match.end() if match else place


def _check_end(text: str, place: int) -> None:
    if place != len(text):
        raise json.JSONDecodeError("Extra data", text, place)
