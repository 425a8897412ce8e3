"""Memories are revised and retracted; what was stays."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from apps.memories.models import LedgerEntry, Memory, MemoryVersion
from apps.outbox.models import OutboxRow
from apps.tenants.models import Project
from tests.api.counting import rows_by_table
from tests.api.storing import LISBON, listed, put


def test_revising_keeps_what_was(client: APIClient, api_key: Any) -> None:
    (stored,) = put(client, LISBON)
    OutboxRow.objects.update(state="done")

    answer = client.patch(
        f"/v1/memories/{stored['id']}", {"content": "Ana lives in Lisbon, Alfama.", "importance": 0.9}
    )

    revised = answer.json()
    assert (answer.status_code, revised["version"], answer["ETag"]) == (200, 2, '"2"')
    assert (revised["content"], revised["importance"]) == ("Ana lives in Lisbon, Alfama.", 0.9)
    history = client.get(f"/v1/memories/{stored['id']}/history").json()
    assert history["memory"] == revised
    (change,) = history["versions"]
    assert (change["version"], change["operation"]) == (1, "revised")
    assert change["actor"] == {"kind": "key", "id": f"key_{api_key.key.id.hex}"}
    assert (change["values"]["content"], change["values"]["importance"]) == ("Ana lives in Lisbon.", 0.5)
    assert OutboxRow.objects.get().state == "pending"
    assert LedgerEntry.objects.filter(verb="revised").count() == 1


def test_values_that_are_the_same_change_nothing(client: APIClient) -> None:
    (stored,) = put(client, {**LISBON, "tags": ["home"]})
    before = rows_by_table()

    answer = client.patch(f"/v1/memories/{stored['id']}", {"content": LISBON["content"], "tags": ["home"]})

    assert answer.json()["version"] == 1
    assert rows_by_table() == before


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        ({"version": 2}, {}, 200),
        ({"version": 1}, {}, 409),
        ({}, {"If-Match": '"2"'}, 200),
        ({}, {"If-Match": "2"}, 200),
        ({}, {"If-Match": "*"}, 200),
        ({}, {"If-Match": '"1"'}, 409),
        ({}, {"If-Match": '"x"'}, 422),
        ({}, {}, 200),
    ],
)
def test_a_version_of_the_past_conflicts(
    client: APIClient, body: dict[str, Any], headers: dict[str, str], status: int
) -> None:
    (stored,) = put(client, LISBON)
    client.patch(f"/v1/memories/{stored['id']}", {"importance": 0.7})
    before = rows_by_table()

    answer = client.patch(f"/v1/memories/{stored['id']}", {"importance": 0.9, **body}, headers=headers)

    assert answer.status_code == status, answer.content
    if status != 200:
        assert answer.json()["code"] == ("conflict" if status == 409 else "invalid_request")
        assert rows_by_table() == before


BAD_REVISIONS = {
    "unknown field": ({"colour": "red"}, 422, "invalid_request"),
    "the owner": ({"user_id": "bob"}, 422, "invalid_request"),
    "empty content": ({"content": ""}, 422, "invalid_request"),
    "content that is null": ({"content": None}, 422, "invalid_request"),
    "too much content": ({"content": "x" * 20_001}, 413, "too_large"),
    "NUL": ({"topic": "a\0"}, 422, "invalid_request"),
    "confidence over 1": ({"confidence": 2}, 422, "invalid_request"),
    "end before the beginning": ({"valid_until": "1999-01-01T00:00:00Z"}, 422, "invalid_request"),
    "status without the right": ({"status": "archived"}, 403, "insufficient_scope"),
    "no object": ([], 422, "invalid_request"),
}


@pytest.mark.parametrize(("body", "status", "code"), BAD_REVISIONS.values(), ids=BAD_REVISIONS)
def test_bad_revisions(client: APIClient, body: Any, status: int, code: str) -> None:
    (stored,) = put(client, LISBON)
    before = rows_by_table()

    answer = client.patch(f"/v1/memories/{stored['id']}", body)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert rows_by_table() == before
    assert client.get(f"/v1/memories/{stored['id']}").json()["version"] == 1


@pytest.mark.parametrize(
    ("before", "after", "operation"),
    [
        ("pending_review", "active", "approved"),
        ("pending_review", "rejected", "rejected"),
        ("active", "archived", "archived"),
        ("archived", "active", "restored"),
        ("active", "superseded", None),
        ("active", "pending_review", None),
        ("rejected", "active", None),
    ],
)
def test_admin_keys_change_where_a_memory_stands(
    admin: APIClient, before: str, after: str, operation: str | None
) -> None:
    (stored,) = put(admin, {**LISBON, "status": before})

    answer = admin.patch(f"/v1/memories/{stored['id']}", {"status": after})

    if operation is None:
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    else:
        assert (answer.json()["status"], MemoryVersion.objects.get().operation) == (after, operation)
        assert answer.json()["review_reasons"] == [] or after != "active"


def test_retracting_hides_and_keeps(client: APIClient) -> None:
    (stored,) = put(client, LISBON)
    address = f"/v1/memories/{stored['id']}"

    assert client.delete(address, headers={"If-Match": '"7"'}).status_code == 409
    assert client.delete(address).status_code == 204
    assert client.delete(address).status_code == 204

    assert listed(client) == []
    assert client.get(address).json()["status"] == "retracted"
    assert [change["operation"] for change in client.get(f"{address}/history").json()["versions"]] == ["retracted"]
    refused = client.patch(address, {"importance": 0.1})
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    assert refused.json()["title"] == "The present state does not allow the request"
    assert refused.json()["detail"] == "the memory is retracted"


def test_known_at_lists_what_was_believed_then(client: APIClient, project: Project) -> None:
    (stored,) = put(client, LISBON)
    written = Memory.objects.get().created_at
    client.patch(f"/v1/memories/{stored['id']}", {"content": "Ana lives in Porto."})
    client.delete(f"/v1/memories/{stored['id']}")
    # Move the past apart: written, a minute later revised, a minute later retracted.
    for number, past in enumerate(MemoryVersion.objects.order_by("version"), start=1):
        MemoryVersion.objects.filter(id=past.id).update(known_until=written + timedelta(minutes=number))

    def believed(moment: datetime) -> list[str]:
        return listed(client, f"&known_at={moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}Z")

    assert believed(written - timedelta(seconds=1)) == []
    assert believed(written + timedelta(seconds=30)) == ["Ana lives in Lisbon."]
    assert believed(written + timedelta(seconds=90)) == ["Ana lives in Porto."]
    assert believed(written + timedelta(seconds=150)) == []
    assert listed(client) == []


ROME = {**LISBON, "content": "Ana lives in Rome.", "object": {"entity": {"name": "Rome", "type": "place"}}}


def test_as_of_means_the_same_in_lists_and_in_search(client: APIClient) -> None:
    """`as_of` selects by validity as known now; lists take `known_at` too, as known at that time."""
    (old,) = put(client, {**LISBON, "said_at": "2026-01-01T00:00:00Z"})
    between = timezone.now()
    put(client, {**ROME, "said_at": "2026-03-01T00:00:00Z"})

    def listed(**moments: str) -> list[str]:
        found = client.get("/v1/memories", {"user_id": "ana", **moments}).json()["results"]
        return [each["content"] for each in found]

    def searched(as_of: str) -> list[str]:
        asked = {"user_id": "ana", "query": "Where does Ana live?", "as_of": as_of}
        return [each["content"] for each in client.post("/v1/memories/search", asked).json()["results"]]

    for as_of, expected in (
        ("2025-12-31", []),
        ("2026-02-01", ["Ana lives in Lisbon."]),
        ("2026-04-01", ["Ana lives in Rome."]),
    ):
        assert listed(as_of=as_of) == searched(as_of) == expected
    for as_of in ("2026-02-01", "2026-04-01"):
        assert listed(as_of=as_of, known_at=between.isoformat()) == ["Ana lives in Lisbon."]
    assert listed(as_of="2026-04-01", known_at=timezone.now().isoformat()) == ["Ana lives in Rome."]
    assert client.get(f"/v1/memories/{old['id']}").json()["status"] == "superseded"
