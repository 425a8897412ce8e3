"""A project worth exporting."""

from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from apps.memories.ledger.actor import acting_as
from apps.memories.models import Memory, MemoryComment, MemoryLink
from apps.pipeline.core.enums import Scope
from apps.review.services import SeenVersion, approve
from apps.tenants.models import Project
from tests.conftest import MakeClient
from tests.imports.transfers.carrying import SAID, answers, content_of, drain, taken_back, vectors_of


@dataclass(frozen=True)
class Original:
    """A project that was exported: its file, what it answered, and its vectors."""

    content: bytes
    answers: list[Any]
    vectors: list[Any]


_made: list[Original] = []


@pytest.fixture
def original(db: None, request: pytest.FixtureRequest, client_of: MakeClient) -> Original:
    """A filled project as it was in another installation, made once."""
    if not _made:
        with taken_back():
            project = request.getfixturevalue("filled")
            told = list(answers(client_of(project, Scope.READ)))
            _made.append(Original(content_of(project), told, vectors_of(project)))
    return _made[0]


@pytest.fixture
def content(original: Original) -> bytes:
    """The export of a filled project that is not here."""
    return original.content


@pytest.fixture
def filled(project: Project, trusted: APIClient) -> Project:
    """A project with two end users, superseded and pending memories, links, comments, a review and items."""
    for user in ("ana", "bo"):
        for number, text in enumerate(SAID):
            turn = {"role": "user", "content": text, "occurred_at": f"2024-06-0{number + 1}T09:00:00Z"}
            body = {"user_id": user, "session_id": f"s{number}", "turns": [turn], "metadata": {"n": number}}
            assert trusted.post("/v1/turns", body).status_code == 202
    drain()
    told = {"type": "fact", "content": "Ana lives in Rome.", "subject": "User", "predicate": "lives_in"}
    told |= {"object": {"literal": "Rome"}, "status": "pending_review", "said_at": "2024-01-01T00:00:00Z"}
    stored = trusted.post("/v1/memories", {"user_id": "ana", "memories": [told]}).json()["results"][0]
    reviewed = Memory.objects.get(content="Ana lives in Rome.")
    person = User.objects.create_user("reviewer")
    with acting_as(f"person:{person.pk}"):
        approve(project_id=project.pk, seen=[SeenVersion(reviewed.pk, reviewed.version)])
    assert stored["id"] == reviewed.shown_id
    MemoryComment.objects.create(
        end_user_id=reviewed.end_user_id, memory=reviewed, author=f"person:{person.pk}", text="Sure?"
    )
    first, second = Memory.objects.filter(end_user_id=reviewed.end_user_id)[:2]
    MemoryLink.objects.create(
        project=project, end_user_id=first.end_user_id, from_memory=first, to_memory=second, kind="contradicts"
    )
    trusted.put("/v1/items", {"namespace": ["a"], "key": "k", "value": {"f": "x"}, "user_id": "ana", "text": "t"})
    trusted.put("/v1/items", {"namespace": ["b"], "key": "k", "value": {"f": "y"}, "text": "t"})
    drain()
    return project
