"""Turns of other products: exports of ChatGPT and Claude, JSON lines, one chat, and episodes of Zep and Graphiti."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from msgspec import Struct, convert, json

from apps.imports.readers.entries import (
    EPOCH,
    Element,
    ImportEntry,
    ImportProblem,
    ImportSource,
    Read,
    fields_of,
    fields_or_none,
    moment_of,
    placed,
    role_named,
    text_of,
)
from apps.pipeline.core.chat_messages import message_role, message_text
from apps.pipeline.core.enums import Role
from apps.pipeline.core.input_validation import BadInput

_SAID = frozenset({"text", "multimodal_text"})  # the types of content that somebody has said


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


def read_chatgpt(raw: Any, at: str, source: ImportSource) -> Iterator[Read]:
    """Yield the turns of a conversation's last branch; hidden messages and calls of tools are left out."""
    tree = convert(raw, _Tree)
    session = tree.conversation_id or tree.id
    if not (tree.mapping and session):
        raise BadInput("has no mapping of messages or no id")
    begun = moment_of(tree.create_time) or moment_of(tree.update_time)
    for node_id in _branch(tree):
        message = fields_or_none(tree.mapping[node_id].message)
        yield from placed(f"message {node_id}", _chatgpt_turns(message, node_id, f"chatgpt-{session}", begun, source))


def _branch(tree: _Tree) -> list[str]:
    """Return the nodes from the root to the last one; where it is not named, to the newest node without an answer."""
    mapping = tree.mapping
    parents = {child: node_id for node_id, node in mapping.items() for child in node.children or ()}
    parents |= {node_id: node.parent for node_id, node in mapping.items() if node.parent}

    def written(node_id: str) -> datetime:
        return moment_of(fields_or_none(mapping[node_id].message).get("create_time")) or EPOCH

    last = tree.current_node
    if last not in mapping:
        answered = set(parents.values())
        # Of nodes of the same time, the one that the file names last.
        last = max(reversed([each for each in mapping if each not in answered] or [*mapping]), key=written)
    nodes: dict[str, None] = {}  # in their order, and each once: a mangled tree may have circles
    while last in mapping and last not in nodes:
        nodes[last] = None
        last = parents.get(last)
    return [*nodes][::-1]


def _chatgpt_turns(
    message: dict[str, Any], node_id: str, session: str, begun: datetime | None, source: ImportSource
) -> Iterator[ImportEntry]:
    # The person was not shown hidden messages, nor those to and from tools.
    role = fields_or_none(message.get("author")).get("role")
    is_hidden = fields_or_none(message.get("metadata")).get("is_visually_hidden_from_conversation")
    is_to_tool = message.get("recipient") not in (None, "all")
    if not message or is_hidden or role == "tool" or is_to_tool or message.get("weight") == 0:
        return
    content = fields_of(message.get("content"))
    if content.get("content_type") not in _SAID:
        kind = text_of(content.get("content_type"))[:40]
        raise BadInput(f"holds nothing that was said (content type {kind!r})")
    text, said_at = message_text(content.get("parts")), moment_of(message.get("create_time")) or begun
    yield from _turns(role, text, said_at, node_id, source.owner(), session, source)


def read_claude(raw: Any, at: str, source: ImportSource) -> Iterator[Read]:
    """Yield the turns of a conversation; the end users of the source may be named by the uuid of an account."""
    talk = fields_of(raw)
    messages, session = talk.get("chat_messages"), text_of(talk.get("uuid"))
    if not isinstance(messages, list) or not session:
        raise BadInput("has no chat_messages or no uuid")
    account = text_of(fields_or_none(talk.get("account")).get("uuid"))
    begun = moment_of(talk.get("created_at"))
    for number, message in enumerate(messages, start=1):
        said = _claude_turns(message, f"message-{number}", account, f"claude-{session}", begun, source)
        yield from placed(f"message {number}", said)


def _claude_turns(
    raw: Any, name: str, account: str, session: str, begun: datetime | None, source: ImportSource
) -> Iterator[ImportEntry]:
    """Yield a message without calls of tools and their results; older exports have `text` alone."""
    message = fields_of(raw)
    text = message_text(message.get("content") or message.get("text"))
    said_at = moment_of(message.get("created_at")) or begun
    message_id = text_of(message.get("uuid")) or name
    yield from _turns(message.get("sender"), text, said_at, message_id, source.owner(account=account), session, source)


def _turns(
    role: Any, text: str, said_at: datetime | None, name: str, user_id: str, session: str, source: ImportSource
) -> Iterator[ImportEntry]:
    """Yield the turn of a message, unless it holds images and files alone."""
    if said_at is None:
        raise BadInput("has no time, nor has its conversation")
    if text.strip():
        yield source.turn(user_id, session, role_named(text_of(role)), text, said_at, external_id=name)


class _Message(Struct, kw_only=True):
    role: str
    content: Any = None
    speaker: str | None = None
    name: str | None = None
    occurred_at: datetime | None = None
    turn_id: str | None = None


class _Line(_Message, kw_only=True, forbid_unknown_fields=True):
    session_id: str
    user_id: str | None = None


def read_turn(raw: bytes, at: str, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield the turn of a line."""
    line = json.decode(raw, type=_Line)
    role, speaker = message_role(line.role), line.speaker or line.name
    yield _turn_of(line, at, source, source.owner(line.user_id or ""), line.session_id, role, speaker)


def read_chat(raw: Any, at: str, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield a message as a turn of one session named after the file; its role may be the name of a person."""
    message = convert(raw, _Message)
    if not message.role:
        raise BadInput('names no speaker ("Name: text")')
    role = role_named(message.role)
    speaker = message.speaker or message.name or (message.role if role is None else "")
    if role in (Role.TOOL, Role.SYSTEM):
        speaker = ""
    yield _turn_of(message, at, source, source.owner(), source.name, role or Role.USER, speaker)


def _turn_of(
    message: _Message,
    at: str,
    source: ImportSource,
    user_id: str,
    session: str,
    role: Role | None,
    speaker: str | None,
) -> ImportEntry:
    """Return a message as a turn; its place is its identifier where it has none. Raises BadInput."""
    text, name = message_text(message.content).strip(), message.turn_id or at.replace(" ", "-")
    return source.turn(user_id, session, role, text, message.occurred_at, external_id=name, speaker=speaker or "")


# "[2026-03-02 09:12] Ana: hello", "**Ana:** hello", "## Assistant", "User: hello"; a name has up to three words.
_NAME = r"[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,2}"
_CHAT_LINE = re.compile(
    rf"(?:\[(?P<time>\d{{4}}-\d\d-\d\d[^\]]*)\] *)?"
    rf"(?:\*\*(?P<bold>{_NAME}):?\*\*:?|#{{1,6}} +(?P<heading>{_NAME}):? *$|(?P<plain>{_NAME}):(?= |$))"
    r" *(?P<text>.*)"
)


def chat_messages(content: bytes) -> Iterator[Element]:
    """Yield a message for each line that names its speaker, with the lines that follow it; one of nobody before them.

    Raises ImportProblem.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        raise ImportProblem(f"line {number}", "is not UTF-8") from error
    for index, (number, match, said) in enumerate(_messages(text, _CHAT_LINE)):
        if said.strip():
            name = match["bold"] or match["heading"] or match["plain"] if match else ""
            time = moment_of(match["time"]) if match else None
            yield f"line {number}", {"role": name, "content": said, "occurred_at": time, "turn_id": f"message-{index}"}


# "Ana (user): hello", "Ana(user): hello", "(user): hello", "user: hello"
_EPISODE_LINE = re.compile(r"(?P<name>[^\n():]{0,120}?)\s*(?:\((?P<role>[a-z]+)\))?:\s(?P<text>.*)")


def read_zep(raw: Any, at: str, source: ImportSource) -> Iterator[ImportEntry]:
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
    group = episode.get("group_id", "")
    session = episode.get("thread_id") or episode.get("session_id") or group or "zep"
    user_id = source.owner(episode.get("user_id", ""), account=group, otherwise=group)
    for number, (name, role, text) in enumerate(_of_episode(episode), start=1):
        if text.strip():
            turn_id, speaker = uuid if number == 1 else f"{uuid}-{number}", "" if role_named(name) else name
            yield source.turn(user_id, session, role, text.strip(), said_at, external_id=turn_id, speaker=speaker)


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
