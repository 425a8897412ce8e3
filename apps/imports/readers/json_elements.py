"""The elements of a large JSON document, one at a time, so that a file of any size needs the memory of one element."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import ijson

from apps.imports.readers.bounded_strings import bounded_strings
from apps.imports.readers.entries import ImportProblem
from apps.pipeline.core.input_validation import MAX_DEPTH

MOST_CHARACTERS = 64 * 1024 * 1024  # of the texts of one element, with a few for each value
_PER_VALUE = 16
_OPENING, _CLOSING = frozenset({"start_map", "start_array"}), frozenset({"end_map", "end_array"})

_Events = Iterator[tuple[str, Any]]
# A line of a chat may begin with a time in brackets.
_BEGINNING = re.compile(r"\s*(?:\{|\[\s*(?:\{|\Z))")


def begins_as_json(text: str) -> bool:
    """Return True if a text begins like an object or a list of objects, however it is spaced."""
    return _BEGINNING.match(text) is not None


@dataclass(frozen=True, slots=True)
class JsonElement:
    """An element of the list of a document, with its number from 1."""

    number: int
    value: Any


def json_elements(stream: BinaryIO, *, lists: Collection[str] = ()) -> Iterator[JsonElement | ImportProblem]:
    """Yield the elements of a document that is a list, or an object with a list under one of the names.

    An object without such a list is the only element. What follows the first place that is not JSON is lost, and told.
    """
    events: _Events = iter(ijson.basic_parse(bounded_strings(stream), use_float=True))
    number = 0
    try:
        for element in _elements(events, lists):
            number += 1
            yield element
    except ijson.JSONError as error:
        after = f"after element {number}" if number else "the file"
        yield ImportProblem(after, f"is not JSON: {_brief(error)}")


def _brief(error: Exception) -> str:
    """Return what is wrong without the excerpt of the file that follows it."""
    said = error.args[0] if error.args else ""
    text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    return text.splitlines()[0][:100] if text else type(error).__name__


def _elements(events: _Events, lists: Collection[str]) -> Iterator[JsonElement | ImportProblem]:
    opening, _ = next(events)
    if opening == "start_array":
        yield from _listed(events)
        _exhaust(events)
        return
    if opening != "start_map":
        yield ImportProblem("the file", "is neither a list nor an object")
        return
    document = _Builder()  # of the whole object, which is the element if it has no such list
    document.add(opening, None)
    found = False
    while document.depth:
        event = next(events)
        if found or event[0] != "map_key" or document.depth > 1 or event[1] not in lists:
            document.add(*event)
            continue
        document.add(*event)
        first = next(events)
        if first[0] == "start_array":
            found = True
            document.give_up("is not needed")
            yield from _listed(events)
        else:
            document.add(*first)
    if not found:
        yield _element(1, document.built)
    _exhaust(events)


def _exhaust(events: _Events) -> None:
    """Read what follows the document, which may be no JSON."""
    for _ in events:
        pass


def _listed(events: _Events) -> Iterator[JsonElement | ImportProblem]:
    for number, event in enumerate(events, start=1):
        if event[0] == "end_array":
            return
        yield _element(number, _value(event, events))


def _element(number: int, value: Any) -> JsonElement | ImportProblem:
    if isinstance(value, _Unread):
        return ImportProblem(f"element {number}", value.reason)
    return JsonElement(number, value)


@dataclass(frozen=True, slots=True)
class _Unread:
    """A value that was skipped."""

    reason: str


def _value(first: tuple[str, Any], events: _Events) -> Any:
    """Return the value that begins with an event; _Unread if it is too large or nested too deeply."""
    builder = _Builder()
    builder.add(*first)
    while builder.depth:
        builder.add(*next(events))
    return builder.built


class _Builder:
    """Builds one value from its events, within limits of size and depth; used once."""

    def __init__(self) -> None:
        self.root: list[Any] = []
        self.depth = 0
        self.unread: _Unread | None = None
        self._size = 0
        self._open: list[tuple[Any, str]] = [(self.root, "")]  # containers, with the key of the next value

    @property
    def built(self) -> Any:
        """Return the value, or _Unread."""
        return self.unread or self.root[0]

    def add(self, event: str, value: Any) -> None:
        self.depth += (event in _OPENING) - (event in _CLOSING)
        self._size += _PER_VALUE + (len(value) if isinstance(value, str) else 0)
        if self.depth > MAX_DEPTH:
            self.give_up(f"is nested deeper than {MAX_DEPTH} levels")
        elif self._size > MOST_CHARACTERS:
            self.give_up(f"is larger than {MOST_CHARACTERS:,} characters")
        if self.unread is None:
            self._build(event, value)

    def give_up(self, reason: str) -> None:
        """Keep nothing of the value; its other events are read and ignored."""
        self.unread = self.unread or _Unread(reason)
        self._open.clear()
        self.root.clear()

    def _build(self, event: str, value: Any) -> None:
        container, key = self._open[-1]
        if event == "map_key":
            self._open[-1] = (container, value)
            return
        if event in _CLOSING:
            self._open.pop()
            return
        made = {} if event == "start_map" else [] if event == "start_array" else value
        if isinstance(container, dict):
            container[key] = made
        else:
            container.append(made)
        if event in _OPENING:
            self._open.append((made, ""))
