"""Reads files of tests, and holds the rows that several tests of readers use."""

import json
from datetime import UTC, datetime
from typing import Any

from apps.imports.enums import ImportFormat
from apps.imports.readers.entries import ImportEntry, ImportProblem, ImportSource
from apps.imports.readers.files import file_entries

NOW = datetime(2026, 4, 1, tzinfo=UTC)
MARCH = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SECONDS = MARCH.timestamp()


def read(name: ImportFormat, content: Any, *, default: str = "ana", **by_name: str) -> list[Any]:
    text = content if isinstance(content, str | bytes) else json.dumps(content)
    raw = text.encode() if isinstance(text, str) else text
    source = ImportSource(name="file", now=NOW, user_id=default, users_by_name=by_name)
    return list(file_entries(raw, file_format=name, source=source))


def said(entries: list[Any]) -> list[tuple[str, str]]:
    return [(each.said.role, each.said.content) for each in entries if isinstance(each, ImportEntry)]


def problems(entries: list[Any]) -> list[tuple[str, str]]:
    return [(each.at, each.reason) for each in entries if isinstance(each, ImportProblem)]


def node(parent: str | None, children: list[str], role: str = "user", text: Any = "", **message: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    made = {"author": {"role": role}, "create_time": SECONDS, "content": content, **message}
    return {"parent": parent, "children": children, "message": made if text != "" or message else None}


def conversation(mapping: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"conversation_id": "c1", "title": "T", "create_time": SECONDS, "mapping": mapping, **fields}


TREE = {
    "root": node(None, ["old", "q"]),
    "old": node("root", ["old-a"], text="I live in Pari."),
    "old-a": node("old", [], "assistant", "Where?"),
    "q": node("root", ["a"], text="I live in Paris."),
    "a": node("q", [], "assistant", "Lovely."),
}


def claude(*messages: Any, **fields: Any) -> dict[str, Any]:
    time = MARCH.isoformat()
    return {"uuid": "c1", "created_at": time, "account": {"uuid": "acc"}, "chat_messages": list(messages), **fields}


HUMAN = {"uuid": "m1", "sender": "human", "text": "I live in Rome.", "created_at": "2026-03-02T09:00:00Z"}
EPISODE = {"uuid": "e1", "content": "I live in Oslo.", "valid_at": "2026-03-02T09:00:00Z", "group_id": "bo"}
MEM0 = {"id": "m1", "memory": "Likes tea", "user_id": "kim", "created_at": "2026-03-02T09:00:00Z"}
OWN = {"id": "mem_1", "user_id": "kim", "status": "active", "type": "fact", "content": "Kim lives in Oslo."}
