"""Exports of one chat: "Name: text" lines, Markdown with a heading or bold name per message, or a JSON list."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import msgspec

from apps.imports.readers.entries import (
    ImportedTurn,
    ImportEntry,
    ImportProblem,
    ImportSource,
    checked_turn,
    role_named,
    unquoted,
)
from apps.pipeline.core.chat_messages import message_text
from apps.pipeline.core.enums import Role
from apps.pipeline.core.turn import NewTurn

# "[2026-03-02 09:12] Ana: hello", "**Ana:** hello", "## Assistant", "User: hello"; a name has up to three words.
_NAME = r"[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,2}"
_LINE = re.compile(
    rf"(?:\[(?P<time>\d{{4}}-\d\d-\d\d[^\]]*)\] *)?"
    rf"(?:\*\*(?P<bold>{_NAME}):?\*\*:?|#{{1,6}} +(?P<heading>{_NAME}):? *$|(?P<plain>{_NAME}):(?= |$))"
    r" *(?P<text>.*)"
)


_JSON_BEGINS = re.compile(r"\s*(?:\{|\[\s*(?:[\[{\"\]]|$))")


@dataclass(frozen=True, slots=True)
class _Message:
    at: str  # line of the file or item of the list
    name: str  # of a role or of a person
    text: str
    role: Role | None = None  # beside the name of a person
    occurred_at: datetime | None = None


class _Item(msgspec.Struct, frozen=True, kw_only=True):
    role: str
    content: Any = None
    speaker: str | None = None
    name: str | None = None
    occurred_at: datetime | None = None


def is_json(text: str) -> bool:
    """Return True for a text that begins with an object, or with a list of values: "[2026-03-02 ...]" is a time."""
    return _JSON_BEGINS.match(text) is not None


def read_chat_text(content: bytes, *, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield the messages as turns of one session named after the file; turn_id is the number of the message."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        yield ImportProblem(f"line {line}", "is not UTF-8")
        return
    messages = _items(text) if is_json(text) else _lines(text)
    for index, message in enumerate(messages, start=1):
        if isinstance(message, ImportProblem):
            yield message
        elif message.text.strip():
            role = role_named(message.name)
            turn = NewTurn(
                role=role or message.role or Role.USER,
                content=message.text.strip(),
                speaker="" if role else message.name,
                occurred_at=message.occurred_at,
                external_id=f"message-{index}",
            )
            entry = ImportedTurn(message.at, source.users.holder(""), source.name, turn)
            yield checked_turn(entry, now=source.now)


def _lines(text: str) -> Iterator[_Message | ImportProblem]:
    """Yield a message for each line that names its speaker, with the lines that follow it."""
    open_message: _Message | None = None
    said: list[str] = []  # its lines, which are joined once
    for number, line in enumerate(text.splitlines(), start=1):
        match = _LINE.match(line)
        if match:
            if open_message:
                yield replace(open_message, text="\n".join(said))
            name = str(match["bold"] or match["heading"] or match["plain"])
            open_message = _Message(f"line {number}", name, "", occurred_at=_moment(match["time"]))
            said = [match["text"]]
        elif open_message:
            said.append(line)
        elif line.strip():
            yield ImportProblem(f"line {number}", 'names no speaker ("Name: text")')
    if open_message:
        yield replace(open_message, text="\n".join(said))


def _moment(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip()) if text else None
    except ValueError:
        return None


def _items(text: str) -> Iterator[_Message | ImportProblem]:
    """Yield the messages of a JSON list of {role, content} objects, or of such a list under "messages"."""
    try:
        data = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        yield ImportProblem("the file", f"is not JSON: {unquoted(error)}")
        return
    items: Any = data.get("messages") if isinstance(data, dict) else data
    if not isinstance(items, list):
        yield ImportProblem("the file", "contains no list of messages")
        return
    for number, raw in enumerate(items, start=1):
        try:
            item = msgspec.convert(raw, _Item)
        except msgspec.ValidationError as error:
            yield ImportProblem(f"item {number}", unquoted(error))
        else:
            text = message_text(item.content)
            if not text:
                yield ImportProblem(f"item {number}", "content holds no text")
                continue
            role = role_named(item.role)
            person = "" if role in (Role.TOOL, Role.SYSTEM) else item.speaker or item.name
            yield _Message(f"item {number}", person or item.role, text, role, item.occurred_at)
