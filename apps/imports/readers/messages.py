"""Messages: turns as JSON lines, one chat as text, Markdown or JSON, and the episodes of Zep and Graphiti."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from msgspec import Struct, convert

from apps.imports.readers.entries import (
    ImportedTurn,
    ImportEntry,
    ImportProblem,
    ImportSource,
    fields_of,
    moment_of,
    role_named,
    text_of,
)
from apps.pipeline.core.chat_messages import message_role, message_text
from apps.pipeline.core.enums import Role
from apps.pipeline.core.input_validation import BadInput
from apps.pipeline.core.turn import NewTurn


class _Message(Struct, kw_only=True):
    role: str
    content: Any = None
    speaker: str | None = None
    name: str | None = None
    occurred_at: datetime | None = None
    turn_id: str | None = None

    def turn(self, role: Role, at: str) -> NewTurn:
        """Return the message as a turn; its place is its identifier where it has none. Raises BadInput."""
        text = message_text(self.content).strip()
        if not text:
            raise BadInput("content holds no text")
        return NewTurn(
            role=role,
            content=text,
            speaker=self.speaker or self.name or "",
            occurred_at=self.occurred_at,
            external_id=self.turn_id or at.replace(" ", "-"),
        )


class _Line(_Message, kw_only=True, forbid_unknown_fields=True):
    session_id: str
    user_id: str | None = None


def read_turn(raw: Any, at: str, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield the turn of a line."""
    line = convert(raw, _Line)
    role = message_role(line.role)
    if role is None:
        raise BadInput("names no known role")
    yield source.turn(source.owner(line.user_id or ""), line.session_id, line.turn(role, at))


def read_chat(raw: Any, at: str, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield a message as a turn of one session named after the file; its role may be the name of a person."""
    message = convert(raw, _Message)
    role = role_named(message.role)
    if role is None:
        message.speaker = message.speaker or message.name or message.role
    elif role in (Role.TOOL, Role.SYSTEM):
        message.speaker = message.name = None
    yield source.turn(source.holder(""), source.name, message.turn(role or Role.USER, at))


# "[2026-03-02 09:12] Ana: hello", "**Ana:** hello", "## Assistant", "User: hello"; a name has up to three words.
_NAME = r"[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,2}"
_CHAT_LINE = re.compile(
    rf"(?:\[(?P<time>\d{{4}}-\d\d-\d\d[^\]]*)\] *)?"
    rf"(?:\*\*(?P<bold>{_NAME}):?\*\*:?|#{{1,6}} +(?P<heading>{_NAME}):? *$|(?P<plain>{_NAME}):(?= |$))"
    r" *(?P<text>.*)"
)


def chat_messages(content: bytes) -> Iterator[tuple[str, Any] | ImportProblem]:
    """Yield a message for each line that names its speaker, with the lines that follow it."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        yield ImportProblem(f"line {number}", "is not UTF-8")
        return
    for index, (number, match, said) in enumerate(_messages(text, _CHAT_LINE)):
        if not said.strip():
            continue
        if match is None:
            yield ImportProblem(f"line {number}", 'names no speaker ("Name: text")')
            continue
        name = match["bold"] or match["heading"] or match["plain"]
        time = moment_of(match["time"])
        message = {"role": name, "content": said, "occurred_at": time, "turn_id": f"message-{index}"}
        yield f"line {number}", message


# "Ana (user): hello", "Ana(user): hello", "(user): hello", "user: hello"
_EPISODE_LINE = re.compile(r"(?P<name>[^\n():]{0,120}?)\s*(?:\((?P<role>[a-z]+)\))?:\s(?P<text>.*)")


def read_zep(raw: Any, at: str, source: ImportSource) -> Iterator[ImportedTurn]:
    """Yield the turns of an episode; the thread, or else the group, is the session, and the user if none is named."""
    fields = fields_of(raw)
    episode = {name: text_of(value) for name, value in fields.items()}
    kind = episode.get("source") or "message"
    if kind != "message":
        raise BadInput(f"is of the kind {kind[:40]!r}: only messages were said by somebody")
    uuid = episode.get("uuid") or episode.get("uuid_")
    said_at = moment_of(fields.get("valid_at")) or moment_of(fields.get("created_at"))
    if not (isinstance(fields.get("content"), str) and uuid and said_at):
        raise BadInput("has no content, no uuid or no time")
    named, group = episode.get("user_id"), episode.get("group_id", "")
    session = episode.get("thread_id") or episode.get("session_id") or group or "zep"
    user_id = source.owner(named) if named else source.holder(group, otherwise=group)
    for number, (name, role, text) in enumerate(_of_episode(episode), start=1):
        if text.strip():
            turn = NewTurn(
                role=role,
                content=text.strip(),
                speaker="" if role_named(name) else name,
                occurred_at=said_at,
                external_id=uuid if number == 1 else f"{uuid}-{number}",
            )
            yield source.turn(user_id, session, turn)


def _of_episode(episode: dict[str, str]) -> Iterator[tuple[str, Role, str]]:
    """Yield speaker, role and text of each message of an episode, which is one message if it names its role."""
    role = role_named(episode.get("role_type", "")) or role_named(episode.get("role", ""))
    if role is not None:
        yield episode.get("role") or episode.get("name", ""), role, episode["content"]
        return
    for _, match, text in _messages(episode["content"], _EPISODE_LINE):
        if match:
            name = match["name"].strip()
            yield name, role_named(match["role"] or "") or role_named(name) or Role.USER, text
        elif text:
            yield "", Role.USER, text


def _messages(text: str, begins: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str] | None, str]]:
    """Yield the text before the first message (with None), then each message: its line, its match and its text."""
    place, match, said = 1, None, list[str]()
    for number, line in enumerate(text.splitlines(), start=1):
        if found := begins.match(line):
            yield place, match, "\n".join(said)
            place, match, line = number, found, found["text"]
            said = []
        said.append(line)
    yield place, match, "\n".join(said)
