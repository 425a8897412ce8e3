"""The exports of ChatGPT and Claude: conversations.json, a list of conversations."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, convert

from apps.imports.readers.entries import (
    ImportedTurn,
    ImportEntry,
    ImportSource,
    fields_of,
    moment_of,
    placed,
    role_named,
    text_of,
)
from apps.pipeline.core.input_validation import BadInput
from apps.pipeline.core.turn import NewTurn

_SAID = frozenset({"text", "multimodal_text"})  # the types of content that somebody has said
_Fields = dict[str, Any]


class _Node(Struct):
    parent: str | None = None
    children: list[str] | None = None
    message: Any = None


class _Tree(Struct):
    """A conversation of ChatGPT. Editing a message or asking again begins another branch of it."""

    mapping: dict[str, _Node] = {}
    conversation_id: str | None = None
    id: str | None = None
    current_node: str | None = None  # the last message of the branch that the person ended with
    create_time: Any = None
    update_time: Any = None


def read_chatgpt(raw: Any, at: str, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield the turns of a conversation's last branch; hidden messages and calls of tools are left out."""
    tree = convert(raw, _Tree)
    session = tree.conversation_id or tree.id
    if not (tree.mapping and session):
        raise BadInput("has no mapping of messages or no id")
    begun = moment_of(tree.create_time) or moment_of(tree.update_time)
    for node_id in _branch(tree):
        message = tree.mapping[node_id].message
        if isinstance(message, dict) and not _is_aside(message):
            said = _chatgpt_turns(message, node_id, f"chatgpt-{session}", begun, source)
            yield from placed(f"message {node_id}", said)


def _branch(tree: _Tree) -> list[str]:
    """Return the nodes from the root to the last one; where it is not named, to the newest node without an answer."""
    mapping = tree.mapping
    parents = {child: node_id for node_id, node in mapping.items() for child in node.children or ()}
    parents |= {node_id: node.parent for node_id, node in mapping.items() if node.parent}
    last = tree.current_node
    if last not in mapping:
        answered = set(parents.values())
        leaves = [each for each in mapping if each not in answered] or [*mapping]
        # Of nodes of the same time, the one that the file names last.
        last = max(reversed(leaves), key=lambda each: _time(mapping[each].message), default=None)
    nodes: dict[str, None] = {}  # in their order, and each once: a mangled tree may have circles
    while last in mapping and last not in nodes:
        nodes[last] = None
        last = parents.get(last)
    return [*nodes][::-1]


def _time(message: Any) -> float:
    moment = moment_of(message.get("create_time")) if isinstance(message, dict) else None
    return moment.timestamp() if moment else 0.0


def _is_aside(message: _Fields) -> bool:
    """Return True for what the person was not shown: hidden messages, and those to and from tools."""
    metadata, author = message.get("metadata"), message.get("author")
    is_hidden = isinstance(metadata, dict) and bool(metadata.get("is_visually_hidden_from_conversation"))
    is_tool = isinstance(author, dict) and author.get("role") == "tool"
    return is_hidden or is_tool or message.get("recipient") not in (None, "all") or message.get("weight") == 0


def _chatgpt_turns(
    message: _Fields, node_id: str, session: str, begun: Any, source: ImportSource
) -> Iterator[ImportEntry]:
    content = fields_of(message.get("content"))
    if content.get("content_type") not in _SAID:
        kind = text_of(content.get("content_type"))[:40]
        raise BadInput(f"holds nothing that was said (content type {kind!r})")
    parts = content.get("parts")
    found = [
        part.get("text") if isinstance(part, dict) else part for part in (parts if isinstance(parts, list) else ())
    ]
    role = fields_of(message.get("author")).get("role")
    said_at = moment_of(message.get("create_time")) or begun
    yield from _turns(role, found, said_at, node_id, source.holder(""), session, source)


def read_claude(raw: Any, at: str, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield the turns of a conversation; the end users of the source may be named by the uuid of an account."""
    talk = fields_of(raw)
    messages, session = talk.get("chat_messages"), text_of(talk.get("uuid"))
    if not isinstance(messages, list) or not session:
        raise BadInput("has no chat_messages or no uuid")
    account = talk.get("account")
    name = text_of(account.get("uuid")) if isinstance(account, dict) else ""
    begun = moment_of(talk.get("created_at"))
    for number, message in enumerate(messages, start=1):
        place = f"message {number}"
        yield from placed(place, _claude_turns(message, place, name, f"claude-{session}", begun, source))


def _claude_turns(
    raw: Any, place: str, account: str, session: str, begun: Any, source: ImportSource
) -> Iterator[ImportEntry]:
    """Yield a message without calls of tools and their results; older exports have `text` alone."""
    message = fields_of(raw)
    blocks = message.get("content")
    if isinstance(blocks, list) and blocks:
        found = [each.get("text") for each in blocks if isinstance(each, dict) and each.get("type") == "text"]
    else:
        found = [message.get("text")]
    said_at = moment_of(message.get("created_at")) or begun
    message_id = text_of(message.get("uuid")) or place.replace(" ", "-")
    yield from _turns(message.get("sender"), found, said_at, message_id, source.holder(account), session, source)


def _turns(
    role_name: Any, texts: list[Any], said_at: Any, external_id: str, user_id: str, session: str, source: ImportSource
) -> Iterator[ImportedTurn]:
    """Yield the turn of a message, unless it holds images and files alone."""
    role = role_named(text_of(role_name))
    if role is None:
        raise BadInput("names no known role")
    if said_at is None:
        raise BadInput("has no time, nor has its conversation")
    content = "\n".join(each for each in texts if isinstance(each, str) and each.strip())
    if content:
        turn = NewTurn(role=role, content=content, occurred_at=said_at, external_id=external_id)
        yield source.turn(user_id, session, turn)
