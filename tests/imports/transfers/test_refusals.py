"""What a project refuses to load, and what it waits for."""

import json

import pytest

from apps.imports.models import FileImport
from apps.intake.run_import import run_import
from apps.tenants.models import EndUser, Project
from tests.imports.transfers.carrying import content_of, load, rows_of

pytestmark = pytest.mark.django_db


def test_a_project_is_loaded_within_its_quotas(filled: Project, other_project: Project) -> None:
    Project.objects.filter(pk=other_project.pk).update(max_memories=0)

    held = load(other_project, content_of(filled))
    assert (held.state, held.position, "maximum of memories" in held.wait_reason) == ("waiting", 0, True)
    Project.objects.filter(pk=other_project.pk).update(max_memories=None)
    FileImport.objects.update(resume_at=None)
    run_import(import_id=held.pk)
    held.refresh_from_db()
    assert held.state == "done"


def test_a_project_that_is_not_empty_is_refused(filled: Project) -> None:
    held = load(filled, content_of(filled))

    assert held.state == "failed"
    assert "not empty" in held.error
    assert EndUser.objects.filter(project=filled).count() == 2


@pytest.mark.parametrize(
    ("find", "replace", "reason", "is_lost"),
    [
        ('"kind":"spans"', '"kind":"secrets"', "is of no known kind", False),
        ('"kind":"turns"', '"kind":"secrets"', "refers to a row that the file does not hold", True),
        ('"user_id":"', '"user_id":"\\u0000', "NUL", True),
        ('"row":{"id":"', '"row":{"id":"x', "has no id", True),
        ('"status":"active","type"', '"status":"splendid","type"', "status has a value", True),
        ('"object":{', '"object":{"entity":"x",', "other values", True),
    ],
)
def test_what_is_mangled_is_told_and_the_other_end_users_are_loaded(
    content: bytes, other_project: Project, find: str, replace: str, reason: str, is_lost: bool
) -> None:
    """An end user is loaded whole or not at all."""
    text = content.decode()
    place = text.rindex(find)

    held = load(other_project, (text[:place] + text[place:].replace(find, replace, 1)).encode())

    assert held.state == "done"
    assert any(reason in each["reason"] for each in held.problems), held.problems
    first, last = (row["row"]["user_id"] for row in rows_of(content) if row.get("kind") == "end_user")
    loaded = EndUser.objects.filter(project=other_project).values_list("external_id", flat=True)
    assert set(loaded) == ({first} if is_lost else {first, last})


def test_rows_that_refer_to_others_than_those_of_the_file_are_refused(content: bytes, other_project: Project) -> None:
    """Nobody can attach rows to those of another project by naming them."""
    rows = [row for row in rows_of(content) if row.get("kind") != "entities"]

    held = load(other_project, "\n".join(map(json.dumps, rows)).encode())

    assert held.done == {"configuration_versions": 1, "rules": held.done["rules"], "items": 1, "refused": 2}
    assert {each["reason"] for each in held.problems} == {"entity_id refers to a row that the file does not hold"}


def test_a_reference_to_a_row_of_another_table_is_refused(content: bytes, other_project: Project) -> None:
    """No foreign key refuses a stage whose trace is a session, or a trace that belongs to nobody."""
    rows = rows_of(content)
    first, last = (place for place, row in enumerate(rows) if row.get("kind") == "end_user")
    span = next(row for row in rows[first:last] if row["kind"] == "spans")
    span["row"]["trace_id"] = next(row for row in rows[first:last] if row["kind"] == "sessions")["row"]["id"]
    stray = {"kind": "traces", "end_user_id": None, "row": {"id": "0192f3a4-1111-7222-8333-444455556666"}}
    next(row for row in rows[last:] if row["kind"] == "spans")["row"]["trace_id"] = stray["row"]["id"]

    held = load(other_project, "\n".join(map(json.dumps, [*rows[:first], stray, *rows[first:]])).encode())

    assert [each["reason"] for each in held.problems] == ["trace_id refers to a row that the file does not hold"] * 2
    assert not EndUser.objects.filter(project=other_project).exists()


@pytest.mark.parametrize(
    ("head", "error"),
    [
        ('{"schema":"memplatform-project","version":99}', "version 99"),
        ('{"schema": "memplatform-project"}', "version None"),
    ],
)
def test_another_version_of_the_schema_is_refused(other_project: Project, head: str, error: str) -> None:
    held = load(other_project, head.encode())

    assert held.state == "failed"
    assert error in held.error
