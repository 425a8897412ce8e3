"""Claude's export: conversations.json, a list of conversations with their messages in order."""

from collections.abc import Iterator
from datetime import datetime
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
from apps.pipeline.core.turn import NewTurn

_Fields = dict[str, Any]


def read_claude(raw: Any, *, at: str, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield the turns of a conversation; the end users of the source may be named by the uuid of an account."""
    conversation: _Fields = raw if isinstance(raw, dict) else {}
    messages, session = conversation.get("chat_messages"), text_of(conversation.get("uuid"))
    if not isinstance(messages, list) or not session:
        yield ImportProblem(at, "has no chat_messages or no uuid")
        return
    account = conversation.get("account")
    user_id = source.users.holder(text_of(account.get("uuid")) if isinstance(account, dict) else "")
    said_at = moment_of(conversation.get("created_at"))
    for number, message in enumerate(messages, start=1):
        place = f"{at}, message {number}"
        if not isinstance(message, dict):
            yield ImportProblem(place, "is not an object")
            continue
        said_at = moment_of(message.get("created_at")) or said_at
        turn = _turn(message, number, said_at)
        if isinstance(turn, str):
            yield ImportProblem(place, turn)
        elif turn.content.strip():  # a message may hold files alone
            yield checked_turn(ImportedTurn(place, user_id, f"claude-{session}", turn), now=source.now)


def _turn(message: _Fields, number: int, said_at: datetime | None) -> NewTurn | str:
    """Return the turn, or why there is none."""
    role = role_named(text_of(message.get("sender")))
    if role is None:
        return "names no known sender"
    if said_at is None:
        return "has no time, nor has its conversation"
    external_id = text_of(message.get("uuid")) or f"message-{number}"
    return NewTurn(role=role, content=_text(message), occurred_at=said_at, external_id=external_id)


def _text(message: _Fields) -> str:
    """Return the blocks of text, without calls of tools and their results; older exports have `text` alone."""
    blocks = message.get("content")
    if isinstance(blocks, list) and blocks:
        said = [each.get("text") for each in blocks if isinstance(each, dict) and each.get("type") == "text"]
        return "\n".join(each for each in said if isinstance(each, str) and each.strip())
    return text_of(message.get("text"))
