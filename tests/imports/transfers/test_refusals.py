"""What is not loaded: nothing of such a file is."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.common.errors import ProviderError
from apps.memories.models import Entity, Memory, MemoryVector
from apps.pipeline.core.identifiers import new_id
from apps.providers import registry
from apps.tenants.models import EndUser, Project
from apps.traces.models import ConfigurationVersion, Session
from tests.imports.transfers.carrying import content_of, file_of, rows_of

pytestmark = pytest.mark.django_db


def refusal(content: bytes, folder: Path, *options: str) -> str:
    """Return why a file is refused, with all rows as they were."""
    file = folder / "project.jsonl"
    file.write_bytes(content)
    before = Project.objects.count(), EndUser.objects.count(), ConfigurationVersion.objects.count()
    with pytest.raises(CommandError) as refused:
        call_command("load_project", str(file), *options)
    assert (Project.objects.count(), EndUser.objects.count(), ConfigurationVersion.objects.count()) == before
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.fixture
def stranger(other_project: Project) -> Entity:
    """The own entity of an end user of another project."""
    user = EndUser.objects.create(id=new_id(), project=other_project, external_id="eve")
    return Entity.objects.create(project=other_project, end_user=user, name="Eve", type="person", is_user=True)


def test_a_project_that_is_here_is_refused(filled: Project, tmp_path: Path) -> None:
    content = content_of(filled)

    assert "there is a project" in refusal(content, tmp_path)
    assert "one with this id" in refusal(content, tmp_path, "--slug=another")


def test_a_slug_that_is_taken_is_refused(content: bytes, other_project: Project, tmp_path: Path) -> None:
    assert f"there is a project '{other_project.slug}'" in refusal(content, tmp_path, f"--slug={other_project.slug}")


@pytest.mark.parametrize(
    ("find", "replace", "reason"),
    [
        ('"kind":"spans"', '"kind":"secrets"', "is of no known kind"),
        ('"kind":"turns"', '"kind":"sessions"', "refers to a row that the file does not hold"),
        ('"user_id":"', '"user_id":"\\u0000', "NUL"),
        ('"user_id":"', '"user":"', "is no end user"),
        ('"row":{"id":"', '"row":{"id":"x', "id does not fit"),
        ('"row":{"id":"', '"row":["', "is no row"),
        ('"status":"active","type"', '"status":"splendid","type"', "status has a value that is not known"),
        ('"object":{', '"object":{"entity":"x",', "memories with other values than are known"),
        ('"confidence":', '"confidence":"high","":', "confidence does not fit"),
    ],
)
def test_a_line_that_does_not_fit_is_named(
    content: bytes, tmp_path: Path, find: str, replace: str, reason: str
) -> None:
    text = content.decode()
    place = text.rindex(find)
    number = text.count("\n", 0, place) + 1

    told = refusal((text[:place] + text[place:].replace(find, replace, 1)).encode(), tmp_path)

    assert reason in told
    assert f"line {number}" in told or "lines " in told


def test_rows_that_refer_to_none_are_refused(content: bytes, tmp_path: Path) -> None:
    rows = [row for row in rows_of(content) if row.get("kind") != "entities"]
    first = next(number for number, row in enumerate(rows, start=1) if row.get("kind") == "entity_aliases")

    told = refusal(file_of(rows), tmp_path)

    assert f"lines {first} to " in told
    assert "entity_id" in told


@pytest.mark.parametrize(
    ("kind", "column", "named"),
    [
        ("memory_vectors", "memory_id", "no memory"),
        ("memory_vectors", "memory_id", "another end user"),
        ("spans", "trace_id", "another table"),
        ("memories", "subject_id", "another project"),
    ],
)
def test_no_row_can_be_referred_to_that_is_of(
    content: bytes, stranger: Entity, tmp_path: Path, kind: str, column: str, named: str
) -> None:
    rows = rows_of(content)
    first, *_, last = (row for row in rows if row.get("kind") == kind and row["row"][column])
    session = next(row for row in rows if row.get("kind") == "sessions")
    first["row"][column] = {
        "no memory": first["end_user_id"],
        "another end user": last["row"][column],
        "another table": session["row"]["id"],
        "another project": str(stranger.pk),
    }[named]

    assert f"{column} refers to a row that the file does not hold" in refusal(file_of(rows), tmp_path)


def test_an_end_user_is_the_one_of_its_line(content: bytes, stranger: Entity, tmp_path: Path) -> None:
    rows = rows_of(content)
    named = next(row["end_user_id"] for row in rows if row.get("kind") == "end_user")
    for row in rows:
        if row.get("end_user_id") == named:
            row["end_user_id"] = str(stranger.end_user_id)

    assert "is of another end user than it names" in refusal(file_of(rows), tmp_path)


def test_what_an_embedder_fails_at_can_be_done_later(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows are loaded by then; no transaction is open while the embedder is asked."""
    file = tmp_path / "project.jsonl"
    file.write_bytes(content)
    embedder = registry.embedder()

    def fails(texts: Sequence[str]) -> None:
        raise ProviderError("no answer")

    monkeypatch.setattr(type(embedder), "embed", lambda self, texts: fails(texts))
    with pytest.raises(CommandError, match="run reembed: no answer"):
        call_command("load_project", str(file))
    monkeypatch.undo()
    loaded = Project.objects.get(id=rows_of(content)[0]["project"]["id"])
    assert not MemoryVector.objects.filter(memory__project=loaded).exists()
    call_command("reembed")
    assert MemoryVector.objects.filter(memory__project=loaded).count() == Memory.objects.filter(project=loaded).count()


def test_a_row_of_nobody_is_refused(content: bytes, tmp_path: Path) -> None:
    rows = rows_of(content)
    first = next(place for place, row in enumerate(rows) if row.get("kind") == "end_user")
    stray = {**next(row for row in rows if row.get("kind") == "traces"), "end_user_id": None}

    assert "end_user_id" in refusal(file_of([*rows[:first], stray, *rows[first:]]), tmp_path)


def test_no_row_is_written_for_an_end_user_of_another_project(content: bytes, stranger: Entity, tmp_path: Path) -> None:
    rows = rows_of(content)
    for row in rows:
        if row.get("kind") == "sessions":
            row["end_user_id"] = str(stranger.end_user_id)

    told = refusal(file_of(rows), tmp_path)

    assert "belongs to an end user that the file does not name before" in told
    assert not Session.objects.filter(end_user=stranger.end_user_id).exists()


@pytest.mark.parametrize("left", [1, 2])
def test_a_file_without_its_end_is_refused(content: bytes, tmp_path: Path, left: int) -> None:
    told = refusal(b"\n".join(content.splitlines()[:-left]), tmp_path)

    assert "is not complete: its last line is missing" in told


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"version": 99}, "has version 99 of the schema"),
        ({"version": None}, "is no export of a project"),
        ({"schema": "another"}, "is no export of a project"),
        ({"project": {}}, "is no export of a project"),
    ],
)
def test_another_first_line_is_refused(content: bytes, tmp_path: Path, changes: dict[str, Any], error: str) -> None:
    head, *rows = rows_of(content)

    assert error in refusal(file_of([head | changes, *rows]), tmp_path)


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff", json.dumps([1]).encode()])
def test_a_file_of_something_else_is_refused(content: bytes, tmp_path: Path) -> None:
    assert "is no export of a project" in refusal(content, tmp_path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file"):
        call_command("load_project", str(tmp_path / "none.jsonl"))
