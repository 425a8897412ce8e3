"""Turns of other products: exports of ChatGPT and Claude, JSON lines, one chat, and episodes of Zep and Graphiti."""

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
    placed,
    role_named,
    text_of,
)
from apps.pipeline.core.chat_messages import message_role, message_text
from apps.pipeline.core.enums import Role
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
        if not isinstance(message, dict):
            continue
        # The person was not shown hidden messages, nor those to and from tools.
        metadata, author = message.get("metadata"), message.get("author")
        is_hidden = isinstance(metadata, dict) and bool(metadata.get("is_visually_hidden_from_conversation"))
        is_of_tool = isinstance(author, dict) and author.get("role") == "tool"
        is_to_tool = message.get("recipient") not in (None, "all")
        if not (is_hidden or is_of_tool or is_to_tool or message.get("weight") == 0):
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
        times: dict[str, float] = {}
        for each in [each for each in mapping if each not in answered] or [*mapping]:
            message = mapping[each].message
            moment = moment_of(message.get("create_time")) if isinstance(message, dict) else None
            times[each] = moment.timestamp() if moment else 0.0
        # Of nodes of the same time, the one that the file names last.
        last = max(reversed(times), key=lambda each: times[each], default=None)
    nodes: dict[str, None] = {}  # in their order, and each once: a mangled tree may have circles
    while last in mapping and last not in nodes:
        nodes[last] = None
        last = parents.get(last)
    return [*nodes][::-1]


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
