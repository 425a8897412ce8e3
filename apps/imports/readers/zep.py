"""Episodes of Zep and Graphiti: messages, alone or several as "name (role): text" lines of one episode."""

import re
from collections.abc import Iterator
from typing import Any

from apps.imports.readers.entries import (
    ImportedTurn,
    ImportEntry,
    ImportProblem,
    ImportSource,
    checked_turn,
    role_named,
    text_of,
)
from apps.imports.readers.times import moment_of
from apps.pipeline.core.enums import Role
from apps.pipeline.core.turn import NewTurn

_Fields = dict[str, Any]
# "Ana (user): hello", "Ana(user): hello", "(user): hello", "user: hello"
_LINE = re.compile(r"(?P<name>[^\n():]{0,120}?)\s*(?:\((?P<role>[a-z]+)\))?:\s(?P<text>.*)")
_SESSIONS = ("thread_id", "session_id", "group_id")


def read_zep(raw: Any, *, at: str, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield the turns of an episode; the thread, or else the group, is the session, and the user if none is named."""
    if not isinstance(raw, dict):
        yield ImportProblem(at, "is not an object")
        return
    episode: _Fields = raw
    reason = _refused(episode)
    if reason:
        yield ImportProblem(at, reason)
        return
    session = next((text_of(episode.get(name)) for name in _SESSIONS if text_of(episode.get(name))), "zep")
    named, group = text_of(episode.get("user_id")), text_of(episode.get("group_id"))
    user_id = source.users.owner(named) if named else source.users.holder(group) or group
    said_at = moment_of(episode.get("valid_at")) or moment_of(episode.get("created_at"))
    uuid = text_of(episode.get("uuid")) or text_of(episode.get("uuid_"))
    for number, (name, role, text) in enumerate(_messages(episode), start=1):
        if not text.strip():
            continue
        turn = NewTurn(
            role=role,
            content=text.strip(),
            speaker=name,
            occurred_at=said_at,
            external_id=uuid if number == 1 else f"{uuid}-{number}",
        )
        yield checked_turn(ImportedTurn(at, user_id, session, turn), now=source.now)


def _refused(episode: _Fields) -> str:
    """Return why an episode is no message; "" if it is one."""
    kind = text_of(episode.get("source")) or "message"
    if kind != "message":
        return f"is of the kind {kind[:40]!r}: only messages were said by somebody"
    if not isinstance(episode.get("content"), str):
        return "has no content"
    if not (text_of(episode.get("uuid")) or text_of(episode.get("uuid_"))):
        return "has no uuid"
    if not (moment_of(episode.get("valid_at")) or moment_of(episode.get("created_at"))):
        return "has no time"
    return ""


def _messages(episode: _Fields) -> Iterator[tuple[str, Role, str]]:
    """Yield speaker, role and text of each message of an episode."""
    content: str = episode["content"]
    role = role_named(text_of(episode.get("role_type"))) or role_named(text_of(episode.get("role")))
    if role is not None:
        name = text_of(episode.get("role")) or text_of(episode.get("name"))
        yield "" if role_named(name) else name, role, content
        return
    open_message: tuple[str, Role, str] | None = None
    for line in content.split("\n"):
        match = _LINE.match(line)
        if match:
            if open_message:
                yield open_message
            open_message = _begun(match)
        elif open_message:
            open_message = (*open_message[:2], f"{open_message[2]}\n{line}")
        else:
            open_message = ("", Role.USER, line)
    if open_message:
        yield open_message


def _begun(match: re.Match[str]) -> tuple[str, Role, str]:
    name, said_role = match["name"].strip(), match["role"] or ""
    role = role_named(said_role) or role_named(name) or Role.USER
    return "" if role_named(name) else name, role, match["text"]
