"""Exports of ChatGPT, Claude, mem0, Zep and of this product become turns and memories; what is mangled is told."""

import json
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pytest

from apps.pipeline.core.enums import Grounding, ImportFormat, SourceConfidence, Status
from apps.pipeline.importing import json_elements
from apps.pipeline.importing.entries import EndUsers, ImportedMemory, ImportedTurn, ImportProblem, ImportSource
from apps.pipeline.importing.formats import READERS, format_of

NOW = datetime(2026, 4, 1, tzinfo=UTC)
MARCH = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SECONDS = MARCH.timestamp()


def read(name: ImportFormat, content: Any, *, default: str = "ana", **by_name: str) -> list[Any]:
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    source = ImportSource(name="file", now=NOW, users=EndUsers(default, by_name))
    return list(READERS[name](BytesIO(raw), source=source))


def said(entries: list[Any]) -> list[tuple[str, str]]:
    return [(each.turn.role, each.turn.content) for each in entries if isinstance(each, ImportedTurn)]


def problems(entries: list[Any]) -> list[tuple[str, str]]:
    return [(each.at, each.reason) for each in entries if isinstance(each, ImportProblem)]


# --- ChatGPT


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

    assert (entry.user_id, entry.session_id, entry.turn.external_id) == ("ana", "chatgpt-c1", "m")
    assert entry.turn.occurred_at == datetime(2026, 3, 2, 9, 1, 0, 500_000, tzinfo=UTC)


# --- Claude


def claude(*messages: Any, **fields: Any) -> dict[str, Any]:
    time = MARCH.isoformat()
    return {"uuid": "c1", "created_at": time, "account": {"uuid": "acc"}, "chat_messages": list(messages), **fields}


HUMAN = {"uuid": "m1", "sender": "human", "text": "I live in Rome.", "created_at": "2026-03-02T09:00:00Z"}


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
    assert not problems(entries)


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

EPISODE = {"uuid": "e1", "content": "I live in Oslo.", "valid_at": "2026-03-02T09:00:00Z", "group_id": "bo"}


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

    assert [(each.turn.external_id, each.turn.speaker) for each in entries] == [("e1", "Bo"), ("e1-2", "Cy")]


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


# --- mem0, and memories of this product

MEM0 = {"id": "m1", "memory": "Likes tea", "user_id": "kim", "created_at": "2026-03-02T09:00:00Z"}
OWN = {"id": "mem_1", "user_id": "kim", "status": "active", "type": "fact", "content": "Kim lives in Oslo."}


@pytest.mark.parametrize("content", [[MEM0], {"results": [MEM0]}, {"memories": [MEM0], "count": 1}, MEM0])
def test_mem0_answers_and_exports_are_read(content: Any) -> None:
    (entry,) = read(ImportFormat.MEM0, content)

    assert (entry.user_id, entry.external_id, entry.memory.content) == ("kim", "m1", "Likes tea")
    assert entry.memory.said_at == MARCH


def test_what_another_product_remembers_is_hearsay() -> None:
    raw = {**MEM0, "metadata": {"a": 1}, "categories": ["food"], "expiration_date": "2026-12-31", "run_id": "r"}
    (entry,) = read(ImportFormat.MEM0, [raw], kim="ana@example.com")
    new = entry.memory

    assert entry.user_id == "ana@example.com"
    assert (new.source_confidence, new.grounding, new.extractor) == (
        SourceConfidence.INFERRED,
        Grounding.UNKNOWN,
        "import",
    )
    assert (new.metadata, new.agent_scope.run_id) == ({"a": 1, "categories": ["food"]}, "r")
    assert new.expires_at == datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    "raw",
    [
        {"id": "m1"},
        {"memory": "x"},
        7,
        {**MEM0, "memory": "a\0b"},
        {**MEM0, "memory": " "},
        {**MEM0, "user_id": "a\nb"},
    ],
)
def test_memories_that_are_mangled_are_told(raw: Any) -> None:
    entries = read(ImportFormat.MEM0, [raw, MEM0])

    assert [place for place, _ in problems(entries)] == ["memory 1"]
    assert isinstance(entries[-1], ImportedMemory)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, None),
        ({"status": "pending_review"}, Status.PENDING_REVIEW),
        ({"status": "superseded", "valid_until": "2026-03-02T00:00:00Z"}, Status.SUPERSEDED),
        ({"status": "superseded"}, ImportProblem),
        ({"status": "retracted"}, ImportProblem),
        ({"status": "new"}, ImportProblem),
        ({"type": "rumour"}, ImportProblem),
    ],
)
def test_memories_of_this_product_keep_what_holds(changes: dict[str, Any], status: Any) -> None:
    (entry,) = read(ImportFormat.MEMORIES, {**OWN, **changes})

    assert entry.memory.status is status if isinstance(entry, ImportedMemory) else status is ImportProblem


def test_a_triple_is_kept() -> None:
    (entry,) = read(ImportFormat.MEMORIES, {**OWN, "subject": "User", "predicate": "lives_in", "object": "Oslo"})

    assert (entry.memory.subject.text, entry.memory.predicate, entry.memory.object_text) == ("User", "lives_in", "Oslo")
    assert entry.memory.stateful


# --- Files


def test_what_follows_a_broken_place_is_lost_and_told() -> None:
    whole = json.dumps([claude(HUMAN), claude(HUMAN)]).encode()
    entries = read(ImportFormat.CLAUDE, whole[:-40])

    assert len(said(entries)) == 1
    assert [place for place, _ in problems(entries)] == ["after element 1"]


def test_a_conversation_that_is_too_large_or_too_deep_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_elements, "MOST_CHARACTERS", 2_000)
    deep: Any = "x"
    for _ in range(40):
        deep = [deep]
    entries = read(ImportFormat.CLAUDE, [claude({**HUMAN, "text": "x" * 2_000}), {"deep": deep}, claude(HUMAN)])

    assert [place for place, _ in problems(entries)] == ["element 1", "element 2"]
    assert said(entries) == [("user", "I live in Rome.")]


TURN = {"session_id": "s", "role": "user", "content": "Hello"}


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (json.dumps([conversation(TREE)]), ImportFormat.CHATGPT),
        (json.dumps([claude(HUMAN)], indent=2), ImportFormat.CLAUDE),
        (json.dumps({"results": [MEM0]}), ImportFormat.MEM0),
        (json.dumps([MEM0]), ImportFormat.MEM0),
        (json.dumps({"episodes": [EPISODE]}), ImportFormat.ZEP),
        (json.dumps([{"qa": [], "conversation": {"speaker_a": "A"}, "sample_id": "x"}]), ImportFormat.LOCOMO),
        (json.dumps([{"qa": [{"question": "?", "evidence": []}]}])[:-2], ImportFormat.LOCOMO),
        (json.dumps(TURN), ImportFormat.JSONL),
        (json.dumps([{"role": "user", "content": "hi"}]), ImportFormat.CHAT),
        ("User: hi", ImportFormat.CHAT),
        (json.dumps({**OWN, "source_confidence": "direct", "review_reasons": []}), ImportFormat.MEMORIES),
        ('{"schema":"memplatform-project","version":1}', ImportFormat.PROJECT),
        (json.dumps({"mood": "good"}), None),
        ("", None),
        ("PK\x03\x04\x00", None),
    ],
)
def test_the_format_of_a_file_is_recognised(head: str, name: ImportFormat | None) -> None:
    assert format_of(head.encode()) is name
