"""Memories of mem0 and of this product become memories; broken files are told, and formats recognised."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from apps.imports.readers import json_elements
from apps.imports.readers.entries import ImportedMemory, ImportProblem
from apps.imports.readers.formats import format_of
from apps.pipeline.core.enums import Grounding, ImportFormat, SourceConfidence, Status
from tests.imports.readers.read_files import (
    EPISODE,
    HUMAN,
    MARCH,
    MEM0,
    OWN,
    TREE,
    claude,
    conversation,
    problems,
    read,
    said,
)

# --- mem0, and memories of this product


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


@pytest.mark.parametrize("name", ["agent_id", "app_id", "run_id", "private_to"])
def test_names_of_agents_are_kept_whole_or_told(name: str) -> None:
    (kept,) = read(ImportFormat.MEMORIES, {**OWN, name: "a" * 255})
    held = kept.memory.private_to if name == "private_to" else getattr(kept.memory.agent_scope, name)

    assert held == "a" * 255
    for wrong in ("a" * 256, "a\nb", "a\0b"):
        assert [place for place, _ in problems(read(ImportFormat.MEMORIES, {**OWN, name: wrong}))] == ["line 1"]


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
