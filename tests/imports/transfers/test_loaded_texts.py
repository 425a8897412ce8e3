"""The texts of a loaded project are cleaned and redacted by the rules of the project that takes them."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.db.models import CharField, JSONField, TextField

from apps.imports.transfers.load_project import stricter_redaction
from apps.imports.transfers.project_tables import OF_END_USER, OF_PROJECT
from apps.memories.models import EntityAlias, Memory, MemoryComment
from apps.pipeline.core.enums import Handling, Scope
from apps.pipeline.core.policy import RedactionPolicy
from apps.projects.services import change_policy
from apps.tenants.models import Project
from apps.traces.models import Turn
from apps.traces.policies import active_policy
from tests.conftest import MakeClient
from tests.imports.transfers.carrying import content_of, drain, load, rows_of

MAIL, PASSWORD, HIDDEN = "kim@example.org", "hunter2xyz", "\u202e\u2063"
KEEP_ALL = {("redaction", kind): "keep" for kind in ("secret", "email")} | {("redaction", "items"): False}


@pytest.fixture
def lenient(db: None, project: Project, client_of: MakeClient) -> Project:
    """A project that keeps sensitive data, with some in every table that has texts."""
    change_policy(project_id=project.pk, base=1, changes=KEEP_ALL)
    caller = client_of(project, Scope.READ, Scope.WRITE, Scope.TRUST)
    said = f"My password is {PASSWORD}, I live in Lyon, and my mail is {MAIL}."
    turns = [{"role": "user", "content": said, "speaker": MAIL}]
    body = {"user_id": "ana", "session_id": "monday", "turns": turns, "topic": MAIL, "metadata": {"mail": MAIL}}
    assert caller.post("/v1/turns", body).status_code == 202
    drain()
    told = [
        {"type": "fact", "content": f"Ana's mail is {each}.", "evidence": each, "subject": each, "tags": [each]}
        | {"metadata": {"password": PASSWORD}}
        for each in (MAIL, f"the-other-{MAIL}")
    ]
    stored = caller.post("/v1/memories", {"user_id": "ana", "memories": told})
    assert stored.status_code == 201, stored.json()
    changed = caller.patch(f"/v1/memories/{stored.json()['results'][0]['id']}", {"content": f"Ana's mail is {MAIL}!"})
    assert changed.status_code == 200
    _comment()
    for item in ({"user_id": "ana"}, {}):
        caller.put("/v1/items", {"namespace": ["a"], "key": "k", "value": {"mail": MAIL}, "text": MAIL, **item})
    drain()
    return project


def _comment() -> None:
    memory = Memory.objects.order_by("id").last()
    assert memory is not None
    author = f"person:{User.objects.create_user('reviewer').pk}"
    MemoryComment.objects.create(end_user_id=memory.end_user_id, memory=memory, author=author, text=f"Ask {MAIL}")


def test_redaction_of_the_receiving_project_holds_for_all_texts(lenient: Project, other_project: Project) -> None:
    change_policy(project_id=other_project.pk, base=1, changes={("redaction", "email"): "mask"})
    content = content_of(lenient)
    kinds = {row["kind"] for row in rows_of(content)[1:] if MAIL in json.dumps(row) or PASSWORD in json.dumps(row)}
    assert kinds >= {"turns", "traces", "memories", "memory_versions", "memory_comments", "entity_aliases", "items"}

    held = load(other_project, content)

    assert (held.state, held.problems, held.done["users"]) == ("done", [], 1)
    again = content_of(other_project).decode()
    assert MAIL not in again
    assert PASSWORD not in again
    before = Memory.objects.filter(project=lenient, status="active").count()
    assert Memory.objects.filter(project=other_project, status="active").count() == before  # two are alike now
    assert "[email]" in Turn.objects.get(end_user__project=other_project).content
    assert not EntityAlias.objects.filter(end_user__project=other_project, folded__contains="kim").exists()
    policy = active_policy(project_id=other_project.pk).redaction
    assert (policy.email, policy.secret, policy.items) == (Handling.MASK, Handling.MASK, True)


def test_invisible_characters_are_removed(lenient: Project, other_project: Project) -> None:
    content = content_of(lenient).decode().replace("Lyon", f"Ly{HIDDEN}on")

    assert load(other_project, content.encode()).problems == []
    again = content_of(other_project).decode()
    assert "Lyon" in again
    assert not set(HIDDEN) & set(again)


@pytest.mark.parametrize(
    ("find", "replace", "reason"),
    [
        ('"is_active":true', '"is_active":false', "without one that is active"),
        ('"content":"My password', '"content":"' + "x" * 50_000, "longer than"),
    ],
)
def test_what_no_project_would_store_is_told(
    lenient: Project, other_project: Project, find: str, replace: str, reason: str
) -> None:
    held = load(other_project, content_of(lenient).decode().replace(find, replace).encode())

    assert [reason in each["reason"] for each in held.problems][:1] == [True], held.problems
    assert active_policy(project_id=other_project.pk).redaction.secret is Handling.MASK


def test_a_file_without_its_end_is_told(lenient: Project, other_project: Project) -> None:
    *lines, end = content_of(lenient).splitlines()
    assert json.loads(end)["kind"] == "end"

    assert [each["at"] for each in load(other_project, b"\n".join(lines)).problems] == ["the end of the file"]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({}, {}, {}),
        ({"email": "mask"}, {"email": "keep"}, {"email": "mask"}),
        ({"secret": "keep"}, {"secret": "drop"}, {"secret": "drop"}),
        ({"items": False}, {"items": False}, {"items": False}),
        ({"phone_regions": ["IT"]}, {"phone_regions": ["US"]}, {"phone_regions": ["US", "IT"]}),
        (
            {"custom": [{"name": "a", "pattern": "x+"}]},
            {"custom": [{"name": "b", "pattern": "y+"}]},
            {"custom": [{"name": "b", "pattern": "y+"}, {"name": "a", "pattern": "x+"}]},
        ),
    ],
)
def test_the_stricter_handling_wins(first: Any, second: Any, expected: Any) -> None:
    read = RedactionPolicy.model_validate
    assert stricter_redaction(read(first), read(second)) == read(expected)


# Columns of names that callers choose, of identifiers, and of words that only the product writes.
_NO_WORDS = {
    "configuration_versions": {"policy", "made_with"},
    "rules": {"name", "pattern", "roles", "languages"},
    "rollbacks": {"selection", "forced", "counts", "actor", "undone_by"},
    "evaluation_samples": {"counts", "actor"},
    "sessions": {"external_id"},
    "traces": {"counts", "traceparent"},
    "turns": {"external_id", "rejected_for", "rejected_by"},
    "spans": {"reason"},
    "model_calls": {"purpose", "request_hash", "model", "prompt_version"},
    "entity_aliases": {"source"},
    "memories": {"canonical_hash", "language", "review_reasons", "confidence_parts", "extractor"}
    | {"agent_id", "app_id", "run_id", "private_to"},
    "memory_versions": {"operation", "actor"},
    "memory_links": {"resolution"},
    "memory_vectors": {"embedder", "questions_by"},
    "memory_comments": {"author"},
    "evaluation_items": {"memory_type", "model"},
    "evaluation_labels": {"labeller"},
    "items": {"session_id", "namespace", "key"},
}


def test_every_column_of_words_is_cleaned() -> None:
    for table in (*OF_PROJECT, *OF_END_USER):
        worded = {
            field.attname
            for field in table.fields
            if isinstance(field, CharField | TextField | JSONField | ArrayField) and not field.choices
        }
        assert worded.difference(table.texts) == _NO_WORDS.get(table.kind, set()), table.kind
        assert worded.issuperset(table.texts), table.kind
