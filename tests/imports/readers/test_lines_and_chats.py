"""Every format converts files to turns, and reports invalid places with their position."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from apps.imports.enums import ImportFormat
from apps.imports.readers.entries import ImportEntry
from apps.pipeline.core.enums import Role
from tests.imports.readers.read_files import problems, read

PLAIN = "User: I live in Porto.\nNear the river.\n\nAssistant: Lovely.\nAna Lima: see https://example.org: it is there"
MARKDOWN = "## User\n\nI live in Porto.\n\n## Assistant\n\nLovely.\n\n**Ana:** *really*"
TIMED = "[2026-03-02 09:12] Ana: hello"


def turns(name: ImportFormat, content: Any) -> list[tuple[str, str, str]]:
    return [(each.said.role, each.said.speaker, each.said.content) for each in read(name, content)]


def test_jsonl_takes_what_a_line_names_and_the_rest_from_the_command() -> None:
    given = {"user_id": "bo", "session_id": "s", "role": "assistant", "content": "Hi", "turn_id": "a", "speaker": "B"}
    lines = f"{json.dumps(given)}\n\n" + json.dumps({"session_id": "s", "role": "user", "content": "Hello"})
    first, second = read(ImportFormat.JSONL, lines)
    assert (first.user_id, first.said.external_id, first.said.speaker) == ("bo", "a", "B")
    assert (second.user_id, second.said.external_id) == ("ana", "line-3")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            PLAIN,
            [
                (Role.USER, "", "I live in Porto.\nNear the river."),
                (Role.ASSISTANT, "", "Lovely."),
                (Role.USER, "Ana Lima", "see https://example.org: it is there"),
            ],
        ),
        (
            MARKDOWN,
            [(Role.USER, "", "I live in Porto."), (Role.ASSISTANT, "", "Lovely."), (Role.USER, "Ana", "*really*")],
        ),
        (TIMED, [(Role.USER, "Ana", "hello")]),
        (
            [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}],
            [("user", "", "hi"), ("assistant", "", "ho")],
        ),
        ({"messages": [{"role": "user", "content": "hi"}]}, [(Role.USER, "", "hi")]),
        ("\ufeffUser: hi", [(Role.USER, "", "hi")]),
        ('[\r\n{"role": "user", "content": "hi"}\r\n]', [(Role.USER, "", "hi")]),
        ('[\t{"role": "user", "content": "hi"}]', [(Role.USER, "", "hi")]),
    ],
)
def test_chats_are_read_in_their_usual_forms(content: object, expected: list[tuple[str, str, str]]) -> None:
    assert turns(ImportFormat.CHAT, content) == expected


def test_a_chat_knows_when_something_was_said() -> None:
    (first,) = read(ImportFormat.CHAT, TIMED)
    assert first.said.occurred_at == datetime(2026, 3, 2, 9, 12, tzinfo=UTC)
    assert (first.session_id, first.said.external_id) == ("file", "message-1")


def test_a_time_keeps_its_offset() -> None:
    (first,) = read(ImportFormat.JSONL, json.dumps({**OK, "occurred_at": "2026-03-02T09:12:00+05:30"}))
    assert (first.said.occurred_at, first.said.utc_offset) == (datetime(2026, 3, 2, 3, 42, tzinfo=UTC), 330)


OK = {"session_id": "s", "role": "user", "content": "Hello"}


@pytest.mark.parametrize(
    ("name", "content", "at"),
    [
        ("jsonl", json.dumps(OK) + "\n{nonsense", "line 2"),
        ("jsonl", json.dumps({**OK, "mood": "good"}), "line 1"),
        ("jsonl", json.dumps({**OK, "role": "pirate"}), "line 1"),
        ("jsonl", json.dumps({**OK, "content": " "}), "line 1"),
        ("jsonl", json.dumps({**OK, "content": "x" * 20_001}), "line 1"),
        ("jsonl", json.dumps({**OK, "content": "a\0b"}), "line 1"),
        ("jsonl", json.dumps({**OK, "session_id": "x" * 256}), "line 1"),
        ("jsonl", json.dumps({**OK, "turn_id": ""}), None),
        ("jsonl", json.dumps({**OK, "occurred_at": "1066-10-14T09:00:00Z"}), "line 1"),
        ("jsonl", b'\n{"session_id": "s", "role": "user", "content": "\xff"}', "line 2"),
        ("chat", "hello\nUser: hi", "line 1"),
        ("chat", b"User: hi\n\xff", "line 2"),
        ("chat", '{"messages": 3}', "message 1"),
        ("chat", [{"role": "user"}], "message 1"),
        ("chat", "[{", "the file"),
        ("chat", "", "the file"),
        ("zep", "[" * 100_000, "the file"),
        ("mem0", "[]", "the file"),
    ],
)
def test_an_invalid_place_is_reported_with_its_position(name: str, content: object, at: str | None) -> None:
    bad_lines = problems(read(ImportFormat(name), content))
    assert [place for place, _ in bad_lines] == ([at] if at else [])
    assert all(message for _, message in bad_lines)


@pytest.mark.parametrize("name", ["jsonl", "chat"])
def test_messages_of_a_chat_api_are_read_with_their_speakers(name: str) -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}]
    parts = [
        {"type": "text", "text": "I live in Delft."},
        {"type": "image_url", "image_url": {"url": "https://a.example"}},
    ]
    messages: list[dict[str, Any]] = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "name": "Petra", "content": parts},
        {"role": "assistant", "name": "Helper", "content": "Nice."},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "user", "content": {"text": "hi"}},
    ]
    as_lines = "\n".join(json.dumps({"session_id": "s", **each}) for each in messages)
    content = as_lines if name == "jsonl" else messages
    entries = read(ImportFormat(name), content)
    found = [each.said for each in entries if isinstance(each, ImportEntry)]
    assert [(each.role, each.speaker, each.content) for each in found] == [
        (Role.SYSTEM, "", "Be brief."),
        (Role.USER, "Petra", "I live in Delft."),
        (Role.ASSISTANT, "Helper", "Nice."),
    ]
    assert len(problems(entries)) == 2
