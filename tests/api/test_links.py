"""/v1/links: contradictions and possible duplicates over the API, as reviewers see and settle them in the console."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.memories.models import LedgerEntry, Memory, MemoryLink
from apps.pipeline.core.enums import LinkKind, LinkResolution, LinkStatus, Scope, Status
from apps.pipeline.core.identifiers import Prefix, show
from apps.tenants.models import Project
from tests.conftest import MakeClient

pytestmark = pytest.mark.django_db
OLDER = {"type": "fact", "content": "Ana has blood group A.", "said_at": "2026-03-02T09:00:00Z"}
NEWER = {"type": "fact", "content": "Ana has blood group 0.", "said_at": "2026-05-04T09:00:00Z"}


@pytest.fixture
def link(admin: APIClient) -> MemoryLink:
    return linked(admin, "ana")


def linked(client: APIClient, user: str, kind: LinkKind = LinkKind.CONTRADICTS) -> MemoryLink:
    """Store two memories of a user and link the newer one to the older one."""
    stored = client.post("/v1/memories", {"user_id": user, "memories": [OLDER, NEWER]})
    assert stored.status_code == 201, stored.content
    rows = Memory.objects.filter(end_user__external_id=user)
    older, newer = rows.get(content=OLDER["content"]), rows.get(content=NEWER["content"])
    return MemoryLink.objects.create(
        end_user=newer.end_user, project=newer.project, from_memory=newer, to_memory=older, kind=kind
    )


def path_of(link: MemoryLink) -> str:
    return f"/v1/links/{show(Prefix.LINK, link.id)}/settle"


def listed(client: APIClient, parameters: str = "user_id=ana") -> list[dict[str, Any]]:
    answer = client.get(f"/v1/links?{parameters}")
    assert answer.status_code == 200, answer.content
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def statuses() -> dict[str, str]:
    return dict(Memory.objects.values_list("content", "status"))


def test_a_link_is_listed_with_both_memories(admin: APIClient, link: MemoryLink) -> None:
    (found,) = listed(admin)

    assert found["id"] == show(Prefix.LINK, link.id)
    assert (found["user_id"], found["kind"], found["status"]) == ("ana", "contradicts", "open")
    assert (found["resolution"], found["settled_at"]) == (None, None)
    assert (found["from_memory"]["content"], found["to_memory"]["content"]) == (NEWER["content"], OLDER["content"])


@pytest.mark.parametrize(
    ("parameters", "users"),
    [
        ("user_id=ana", ["ana"]),
        ("", ["bo", "ana"]),
        ("kinds=possible_duplicate", ["bo"]),
        ("kinds=contradicts&kinds=possible_duplicate", ["bo", "ana"]),
        ("status=open", ["bo", "ana"]),
        ("status=settled", []),
        ("user_id=nobody", []),
    ],
)
def test_filters(admin: APIClient, link: MemoryLink, parameters: str, users: list[str]) -> None:
    linked(admin, "bo", LinkKind.POSSIBLE_DUPLICATE)
    assert [each["user_id"] for each in listed(admin, parameters)] == users


def test_a_link_whose_memory_is_gone_need_not_be_settled(admin: APIClient, link: MemoryLink) -> None:
    admin.delete(f"/v1/memories/{link.to_memory.shown_id}")
    assert listed(admin) == []


@pytest.mark.parametrize(
    ("resolution", "newer", "older"),
    [
        (LinkResolution.KEPT_FROM, Status.ACTIVE, Status.REJECTED),
        (LinkResolution.KEPT_TO, Status.REJECTED, Status.ACTIVE),
        (LinkResolution.CHANGED, Status.ACTIVE, Status.SUPERSEDED),
        (LinkResolution.BOTH, Status.ACTIVE, Status.ACTIVE),
        (LinkResolution.MERGED, Status.MERGED, Status.ACTIVE),
    ],
)
def test_a_resolution_changes_both_memories(
    admin: APIClient, link: MemoryLink, resolution: LinkResolution, newer: Status, older: Status
) -> None:
    answer = admin.post(path_of(link), {"resolution": resolution.value})

    assert answer.status_code == 200, answer.content
    assert (answer.json()["status"], answer.json()["resolution"]) == ("settled", resolution.value)
    assert statuses() == {NEWER["content"]: newer, OLDER["content"]: older}
    assert listed(admin) == []
    assert [each["resolution"] for each in listed(admin, "user_id=ana&status=settled")] == [resolution.value]


def test_the_day_of_a_change_closes_the_older_memory(admin: APIClient, link: MemoryLink) -> None:
    answer = admin.post(path_of(link), {"resolution": "changed", "changed_on": "2026-04-01"})
    assert answer.json()["to_memory"]["valid_until"] == "2026-04-01T00:00:00Z"


def test_both_are_kept_with_their_validity(admin: APIClient, link: MemoryLink) -> None:
    validity = {"valid_from": "2026-03-01T00:00:00Z", "valid_until": "2026-06-01T00:00:00Z"}
    answer = admin.post(path_of(link), {"resolution": "both", "to_validity": validity})
    assert answer.status_code == 200, answer.content
    assert answer.json()["to_memory"]["valid_until"] == "2026-06-01T00:00:00Z"


def test_the_key_that_settled_stands_in_the_ledger(admin: APIClient, link: MemoryLink) -> None:
    admin.post(path_of(link), {"resolution": "kept_from"})
    assert LedgerEntry.objects.latest("id").actor.startswith("key:")


@pytest.mark.parametrize(
    ("body", "status", "pointer"),
    [
        ({}, 422, "/resolution"),
        ({"resolution": "none"}, 422, "/resolution"),
        ({"resolution": "changed", "changed_on": "2020-01-01"}, 422, "/changed_on"),
        ({"resolution": "kept_from", "from_version": 7}, 409, None),
    ],
)
def test_a_settlement_that_does_not_fit_is_refused(
    admin: APIClient, link: MemoryLink, body: dict[str, Any], status: int, pointer: str | None
) -> None:
    answer = admin.post(path_of(link), body)

    assert answer.status_code == status, answer.content
    assert [each["pointer"] for each in answer.json().get("errors", [])] == ([pointer] if pointer else [])
    link.refresh_from_db()
    assert link.status == LinkStatus.OPEN


def test_a_link_is_settled_once(admin: APIClient, link: MemoryLink) -> None:
    assert admin.post(path_of(link), {"resolution": "both"}).status_code == 200
    assert admin.post(path_of(link), {"resolution": "kept_from"}).status_code == 409


def test_only_admins_of_the_project_settle(
    client_of: MakeClient, project: Project, other_project: Project, link: MemoryLink
) -> None:
    assert client_of(project, Scope.WRITE).post(path_of(link), {"resolution": "both"}).status_code == 403
    assert client_of(other_project, Scope.ADMIN).post(path_of(link), {"resolution": "both"}).status_code == 404
    assert listed(client_of(other_project, Scope.ADMIN), "") == []
