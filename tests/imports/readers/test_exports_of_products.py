"""Conversations of ChatGPT, Claude and Zep become turns; what is mangled is told."""

from datetime import UTC, datetime
from typing import Any

import pytest

from apps.imports.enums import ImportFormat
from tests.imports.readers.read_files import (
    EPISODE,
    HUMAN,
    SECONDS,
    TREE,
    claude,
    conversation,
    node,
    problems,
    read,
    said,
)

# --- ChatGPT


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (conversation(TREE, current_node="a"), [("user", "I live in Paris."), ("assistant", "Lovely.")]),
        (conversation(TREE, current_node="old-a"), [("user", "I live in Pari."), ("assistant", "Where?")]),
        (conversation(TREE), [("user", "I live in Paris."), ("assistant", "Lovely.")]),  # the newest children
        (conversation(TREE, current_node="gone"), [("user", "I live in Paris."), ("assistant", "Lovely.")]),
        (
            conversation({"x": node("y", ["y"], text="I am Bo."), "y": node("x", ["x"])}, current_node="x"),
            [("user", "I am Bo.")],
        ),
        (
            conversation({"x": node(None, [], text="Hidden", metadata={"is_visually_hidden_from_conversation": True})}),
            [],
        ),
        (conversation({"x": node(None, [], "tool", "A web page")}), []),
        (conversation({"x": node(None, [], "assistant", "search()", recipient="browser")}), []),
        (
            conversation(
                {
                    "x": node(
                        None,
                        [],
                        text="x",
                        content={
                            "content_type": "multimodal_text",
                            "parts": [{"asset": 1}, "My cat", {"text": "spoken"}],
                        },
                    )
                }
            ),
            [("user", "My cat\nspoken")],
        ),
    ],
)
def test_the_branch_that_a_chatgpt_conversation_ended_with_is_read(
    content: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    entries = read(ImportFormat.CHATGPT, [content])

    assert said(entries) == expected
    nothing = ("conversation 1", "holds nothing to import")
    assert problems(entries) == ([] if expected else [nothing])


@pytest.mark.parametrize("missing", ["parent", "children"])
def test_a_chatgpt_conversation_is_read_by_parents_or_children_alone(missing: str) -> None:
    whole = {
        "a": node("q", [], "assistant", "Lovely.", create_time=SECONDS + 9),
        "q": node(None, ["old-a", "a"], text="I live in Paris."),
        "old-a": node("q", [], "assistant", "Where?", create_time=SECONDS + 5),
    }
    mapping = {name: {key: each[key] for key in each if key != missing} for name, each in whole.items()}
    entries = read(ImportFormat.CHATGPT, [conversation(mapping)])

    assert said(entries) == [("user", "I live in Paris."), ("assistant", "Lovely.")]
    assert not problems(entries)


@pytest.mark.parametrize(
    ("content", "at"),
    [
        ({"conversation_id": "c1"}, "conversation 1"),
        ("nonsense", "conversation 1"),
        (conversation(TREE, conversation_id=""), "conversation 1"),
        (conversation({"x": node(None, [], "pirate", "Aye")}), "conversation 1, message x"),
        (conversation({"x": node(None, [], text="x", content={"content_type": "code"})}), "conversation 1, message x"),
        (
            conversation({"x": node(None, [], text="Hi", create_time=None)}, create_time="?"),
            "conversation 1, message x",
        ),
        (conversation({"x": node(None, [], text="x" * 20_001)}), "conversation 1, message x"),
    ],
)
def test_what_is_mangled_in_a_chatgpt_export_is_told_and_the_rest_is_read(content: Any, at: str) -> None:
    entries = read(ImportFormat.CHATGPT, [content, conversation(TREE, conversation_id="c2", current_node="a")])

    assert [place for place, reason in problems(entries) if reason] == [at]
    assert said(entries)[-2:] == [("user", "I live in Paris."), ("assistant", "Lovely.")]


def test_a_chatgpt_turn_keeps_its_time_and_the_identifiers_of_its_message() -> None:
    mapping = {"m": node(None, [], text="Hello there.", create_time=SECONDS + 60.5)}
    (entry,) = read(ImportFormat.CHATGPT, [conversation(mapping)])

    assert (entry.user_id, entry.session_id, entry.said.external_id) == ("ana", "chatgpt-c1", "m")
    assert entry.said.occurred_at == datetime(2026, 3, 2, 9, 1, 0, 500_000, tzinfo=UTC)


# --- Claude


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (HUMAN, [("user", "I live in Rome.")]),
        ({**HUMAN, "sender": "assistant"}, [("assistant", "I live in Rome.")]),
        (
            {
                **HUMAN,
                "content": [
                    {"type": "text", "text": "A"},
                    {"type": "tool_use", "input": {}},
                    {"type": "text", "text": "B"},
                ],
            },
            [("user", "A\nB")],
        ),
        ({**HUMAN, "text": "", "files": [{"file_name": "x.png"}]}, []),
        ({**HUMAN, "created_at": None}, [("user", "I live in Rome.")]),  # the time of the conversation
    ],
)
def test_a_claude_export_is_read(message: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    entries = read(ImportFormat.CLAUDE, [claude(message)])

    assert said(entries) == expected
    nothing = ("conversation 1", "holds nothing to import")
    assert problems(entries) == ([] if expected else [nothing])


@pytest.mark.parametrize(
    ("content", "at"),
    [
        (claude("nonsense"), "conversation 1, message 1"),
        (claude({**HUMAN, "sender": "narrator"}), "conversation 1, message 1"),
        (claude({**HUMAN, "created_at": "soon"}, created_at=None), "conversation 1, message 1"),
        (claude(uuid=""), "conversation 1"),
        ({"uuid": "c1"}, "conversation 1"),
    ],
)
def test_what_is_mangled_in_a_claude_export_is_told(content: Any, at: str) -> None:
    entries = read(ImportFormat.CLAUDE, [content, claude(HUMAN)])

    assert [place for place, _ in problems(entries)] == [at]
    assert said(entries) == [("user", "I live in Rome.")]


@pytest.mark.parametrize(
    ("default", "by_name", "owner"), [("ana", {}, "ana"), ("", {"acc": "bo"}, "bo"), ("ana", {"acc": "bo"}, "bo")]
)
def test_an_account_is_an_end_user_that_the_caller_names(default: str, by_name: dict[str, str], owner: str) -> None:
    (entry,) = read(ImportFormat.CLAUDE, [claude(HUMAN)], default=default, **by_name)

    assert entry.user_id == owner


def test_turns_of_nobody_are_told() -> None:
    entries = read(ImportFormat.CLAUDE, [claude(HUMAN)], default="")

    assert problems(entries) == [
        ("conversation 1, message 1", "user_id is named neither by the file nor by the import")
    ]


# --- Zep and Graphiti


@pytest.mark.parametrize(
    ("episode", "expected"),
    [
        ({**EPISODE, "role_type": "user", "role": "Bo"}, [("user", "I live in Oslo.")]),
        ({**EPISODE, "role_type": "assistant"}, [("assistant", "I live in Oslo.")]),
        (
            {**EPISODE, "content": "Bo(user): I live in Oslo.\nAgent(assistant): Cold?\nVery.\n"},
            [("user", "I live in Oslo."), ("assistant", "Cold?\nVery.")],
        ),
        ({**EPISODE, "content": "user: hello to you\nassistant: hi"}, [("user", "hello to you"), ("assistant", "hi")]),
        ({**EPISODE, "source": "message"}, [("user", "I live in Oslo.")]),
    ],
)
def test_episodes_are_read(episode: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    for content in ([episode], {"episodes": [episode]}):
        entries = read(ImportFormat.ZEP, content, default="")
        assert said(entries) == expected
        assert {(each.user_id, each.session_id) for each in entries} == {("bo", "bo")}


@pytest.mark.parametrize(
    ("default", "by_name", "fields", "owner"),
    [
        ("ana", {}, {}, "ana"),
        ("ana", {"bo": "cy"}, {}, "cy"),
        ("ana", {"bo": "cy"}, {"user_id": "di"}, "di"),
        ("ana", {"di": "eve"}, {"user_id": "di"}, "eve"),
        ("", {}, {}, "bo"),
    ],
)
def test_the_group_of_an_episode_is_its_end_user_where_nobody_else_is_named(
    default: str, by_name: dict[str, str], fields: dict[str, str], owner: str
) -> None:
    (entry,) = read(ImportFormat.ZEP, [{**EPISODE, **fields}], default=default, **by_name)

    assert entry.user_id == owner


def test_the_messages_of_an_episode_have_identifiers_of_their_own() -> None:
    entries = read(ImportFormat.ZEP, [{**EPISODE, "content": "Bo: hello\nCy: hi"}])

    assert [(each.said.external_id, each.said.speaker) for each in entries] == [("e1", "Bo"), ("e1-2", "Cy")]


@pytest.mark.parametrize(
    "episode",
    [
        {**EPISODE, "source": "json"},
        {**EPISODE, "source": "text"},
        {**EPISODE, "content": None},
        {**EPISODE, "uuid": None},
        {**EPISODE, "valid_at": None},
        [],
    ],
)
def test_episodes_that_nobody_said_are_told(episode: Any) -> None:
    entries = read(ImportFormat.ZEP, [episode, {**EPISODE, "role_type": "user"}])

    assert [place for place, _ in problems(entries)] == ["episode 1"]
    assert len(said(entries)) == 1
