"""ChatGPT's export: conversations.json, a list of conversations whose messages form a tree.

Editing a message or asking again begins another branch. Only the branch that the person ended with is imported:
`current_node` names its last message.
"""

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

_SAID = frozenset({"text", "multimodal_text"})  # the types of content that somebody has said
_Fields = dict[str, Any]


def read_chatgpt(raw: Any, *, at: str, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield the turns of a conversation's last branch; hidden messages and calls of tools are left out."""
    conversation: _Fields = raw if isinstance(raw, dict) else {}
    mapping = conversation.get("mapping")
    session = text_of(conversation.get("conversation_id")) or text_of(conversation.get("id"))
    if not isinstance(mapping, dict) or not session:
        yield ImportProblem(at, "has no mapping of messages or no id")
        return
    said_at = moment_of(conversation.get("create_time")) or moment_of(conversation.get("update_time"))
    user_id = source.users.holder("")
    for node_id in _branch(mapping, text_of(conversation.get("current_node"))):
        message = _message(mapping, node_id)
        if message is None or _is_aside(message):
            continue
        said_at = moment_of(message.get("create_time")) or said_at
        place = f"{at}, message {node_id}"
        turn = _turn(message, node_id, said_at)
        if isinstance(turn, str):
            yield ImportProblem(place, turn)
        elif turn.content.strip():
            yield checked_turn(ImportedTurn(place, user_id, f"chatgpt-{session}", turn), now=source.now)


def _branch(mapping: _Fields, last: str) -> list[str]:
    """Return the nodes from the root to the last one; where it is not named, to the newest node without an answer."""
    parents: dict[str, str] = {}
    for node_id in mapping:
        children = _node(mapping, node_id).get("children")
        parents |= {text_of(child): node_id for child in (children if isinstance(children, list) else ())}
    for node_id in mapping:
        parents[node_id] = text_of(_node(mapping, node_id).get("parent")) or parents.get(node_id, "")
    if last not in mapping:
        answered = set(parents.values())
        leaves = [each for each in mapping if each not in answered] or [*mapping]
        # Of nodes of the same time, the one that the file names last.
        last = max(reversed(leaves), key=lambda each: _time(mapping, each), default="")
    nodes: dict[str, None] = {}  # in their order, and each once: a mangled tree may have circles
    while last in mapping and last not in nodes:
        nodes[last] = None
        last = parents[last]
    return [*nodes][::-1]


def _time(mapping: _Fields, node_id: str) -> float:
    moment = moment_of((_message(mapping, node_id) or {}).get("create_time"))
    return moment.timestamp() if moment else 0.0


def _node(mapping: _Fields, node_id: str) -> _Fields:
    node = mapping[node_id]
    return node if isinstance(node, dict) else {}


def _message(mapping: _Fields, node_id: str) -> _Fields | None:
    message = _node(mapping, node_id).get("message")
    return message if isinstance(message, dict) else None


def _is_aside(message: _Fields) -> bool:
    """Return True for what the person was not shown: hidden messages, and those to and from tools."""
    metadata = message.get("metadata")
    is_hidden = isinstance(metadata, dict) and bool(metadata.get("is_visually_hidden_from_conversation"))
    author = message.get("author")
    is_tool = isinstance(author, dict) and author.get("role") == "tool"
    return is_hidden or is_tool or message.get("recipient") not in (None, "all") or message.get("weight") == 0


def _turn(message: _Fields, node_id: str, said_at: datetime | None) -> NewTurn | str:
    """Return the turn, or why there is none."""
    author, content = message.get("author"), message.get("content")
    role = role_named(text_of(author.get("role"))) if isinstance(author, dict) else None
    if role is None:
        return "names no known role"
    if not isinstance(content, dict) or content.get("content_type") not in _SAID:
        kind = text_of(content.get("content_type"))[:40] if isinstance(content, dict) else ""
        return f"holds nothing that was said (content type {kind!r})"
    if said_at is None:
        return "has no time, nor has its conversation"
    return NewTurn(role=role, content=_text(content), occurred_at=said_at, external_id=node_id)


def _text(content: _Fields) -> str:
    """Return the texts among the parts, spoken ones included; images and files have none."""
    parts = content.get("parts")
    found = [
        part.get("text") if isinstance(part, dict) else part for part in (parts if isinstance(parts, list) else ())
    ]
    return "\n".join(each for each in found if isinstance(each, str) and each.strip())
