"""Memories of mem0 and of this product become memories; broken files are told, and formats recognised."""

import json
from datetime import UTC, datetime
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from apps.imports.enums import ImportFormat
from apps.imports.readers import files
from apps.imports.readers.entries import ImportEntry, ImportProblem
from apps.imports.readers.files import format_of
from apps.pipeline.core.enums import Grounding, SourceConfidence, Status
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

    assert (entry.user_id, entry.external_id, entry.said.content) == ("kim", "m1", "Likes tea")
    assert entry.said.said_at == MARCH


def test_what_another_product_remembers_is_hearsay() -> None:
    raw = {**MEM0, "metadata": {"a": 1}, "categories": ["food"], "expiration_date": "2026-12-31", "run_id": "r"}
    (entry,) = read(ImportFormat.MEM0, [raw], kim="ana@example.com")
    new = entry.said

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
    assert isinstance(entries[-1], ImportEntry)


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

    assert entry.said.status is status if isinstance(entry, ImportEntry) else status is ImportProblem


def test_a_triple_is_kept() -> None:
    (entry,) = read(ImportFormat.MEMORIES, {**OWN, "subject": "User", "predicate": "lives_in", "object": "Oslo"})

    assert (entry.said.subject.text, entry.said.predicate, entry.said.object_text) == ("User", "lives_in", "Oslo")
    assert entry.said.stateful


@pytest.mark.parametrize("name", ["agent_id", "app_id", "run_id", "private_to"])
def test_names_of_agents_are_kept_whole_or_told(name: str) -> None:
    (kept,) = read(ImportFormat.MEMORIES, {**OWN, name: "a" * 255})
    held = kept.said.private_to if name == "private_to" else getattr(kept.said.agent_scope, name)

    assert held == "a" * 255
    for wrong in ("a" * 256, "a\nb", "a\0b"):
        assert [place for place, _ in problems(read(ImportFormat.MEMORIES, {**OWN, name: wrong}))] == ["line 1"]


# --- Files


def test_what_follows_a_broken_place_is_lost_and_told() -> None:
    whole = json.dumps([claude(HUMAN), claude(HUMAN)]).encode()
    entries = read(ImportFormat.CLAUDE, whole[:-40])

    assert len(said(entries)) == 1
    assert [place for place, _ in problems(entries)] == ["after element 1"]


def test_a_value_that_is_nested_without_end_is_told() -> None:
    deep = b'[{"deep":' + b"[" * 100_000 + b"]" * 100_000 + b"}]"
    assert [place for place, _ in problems(read(ImportFormat.CLAUDE, deep))] == ["the file"]


def archive(**documents: Any) -> bytes:
    """Return a ZIP file with JSON documents, by their names without the suffix."""
    written = BytesIO()
    with ZipFile(written, "w", ZIP_DEFLATED) as file:
        for name, document in documents.items():
            file.writestr(f"export/{name}.json", json.dumps(document))
    return written.getvalue()


def test_an_archive_is_read_as_it_was_downloaded() -> None:
    parts = {f"conversations-00{number}": [conversation(TREE, conversation_id=f"c{number}")] for number in (2, 1)}
    raw = archive(user={"email": "ana@example.org"}, **parts)
    entries = read(ImportFormat.CHATGPT, raw)

    assert format_of(raw) is ImportFormat.CHATGPT
    assert format_of(archive(users=[], conversations=[claude(HUMAN)])) is ImportFormat.CLAUDE
    assert said(entries) == [("user", "I live in Paris."), ("assistant", "Lovely.")] * 2
    assert [each.session_id for each in entries[::2]] == ["chatgpt-c1", "chatgpt-c2"]
    assert entries[0].at == "file 1, conversation 1, message q"


def test_an_archive_without_conversations_or_with_too_many_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = archive(conversations=[conversation(TREE)])
    monkeypatch.setattr(files, "MOST_UNPACKED", 20)
    for raw, reason in ((archive(user={}), "no conversations"), (whole, "20 bytes"), (whole[:60], "can't be")):
        ((place, told),) = problems(read(ImportFormat.CHATGPT, raw))
        assert (place, reason in told) == ("the archive", True)
        with pytest.raises(ImportProblem):
            format_of(raw)


def test_an_archive_is_not_unpacked_beyond_the_size_that_it_names() -> None:
    whole = archive(conversations=[{"id": "x" * 100_000}])
    declared = (100_000 + len(json.dumps([{"id": ""}]))).to_bytes(4, "little")
    assert whole.count(declared) == 2
    assert [place for place, _ in problems(read(ImportFormat.CHATGPT, whole.replace(declared, b"\x10\0\0\0")))] == [
        "the archive"
    ]


TURN = {"session_id": "s", "role": "user", "content": "Hello"}


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (json.dumps([conversation(TREE)]), ImportFormat.CHATGPT),
        (json.dumps([claude(HUMAN)], indent=2), ImportFormat.CLAUDE),
        (json.dumps({"results": [MEM0]}), ImportFormat.MEM0),
        (json.dumps([MEM0]), ImportFormat.MEM0),
        (json.dumps({"episodes": [EPISODE]}), ImportFormat.ZEP),
        (json.dumps([{"id": "broken"}, conversation(TREE)]), ImportFormat.CHATGPT),
        (json.dumps([claude(HUMAN), claude(HUMAN)])[:-9], ImportFormat.CLAUDE),
        (json.dumps(TURN), ImportFormat.JSONL),
        (json.dumps(TURN) + "\r\n" + json.dumps(TURN), ImportFormat.JSONL),
        ("[\t" + json.dumps({"role": "user", "content": "hi"}) + "]", ImportFormat.CHAT),
        ("[2026-03-02 09:12] Ana: hello", ImportFormat.CHAT),
        (json.dumps([{"role": "user", "content": "hi"}]), ImportFormat.CHAT),
        ("User: hi", ImportFormat.CHAT),
        (json.dumps({**OWN, "source_confidence": "direct", "review_reasons": []}), ImportFormat.MEMORIES),
        ('{"schema":"memplatform-project","version":1}', None),
        (json.dumps({"mood": "good"}), None),
        ("", None),
        ("PK\x03\x04\x00", None),
    ],
)
def test_the_format_of_a_file_is_recognised(head: str, name: ImportFormat | None) -> None:
    if name:
        assert format_of(head.encode()) is name
    else:
        with pytest.raises(ImportProblem):
            format_of(head.encode())
