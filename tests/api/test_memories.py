"""/v1/memories: store, list, read, revise, retract, history, and past states."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from apps.memories.models import Entity, LedgerEntry, Memory, MemoryVersion
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import Scope, WorkKind
from apps.tenants.models import Project
from tests.api.counting import rows_by_table
from tests.conftest import MakeClient

LISBON = {
    "type": "fact",
    "content": "Ana lives in Lisbon.",
    "subject": "User",
    "predicate": "lives_in",
    "object": {"entity": {"name": "Lisbon", "type": "place"}},
}


def put(client: APIClient, *memories: dict[str, Any], user_id: str = "ana") -> list[dict[str, Any]]:
    answer = client.post("/v1/memories", {"user_id": user_id, "memories": list(memories)})
    assert answer.status_code == 201, answer.content
    stored: list[dict[str, Any]] = answer.json()["memories"]
    return stored


def listed(client: APIClient, query: str = "", user_id: str = "ana") -> list[str]:
    answer = client.get(f"/v1/memories?user_id={user_id}{query}")
    assert answer.status_code == 200, answer.content
    return [memory["content"] for memory in answer.json()["results"]]


EVERYTHING = {
    "type": "preference",
    "content": "Ana prefers tea to coffee.",
    "predicate": "prefers",
    "polarity": "negative",
    "stateful": True,
    "topic": "food",
    "tags": ["convention", "drinks"],
    "metadata": {"from": {"system": "old"}, "n": [1, 2.5, None]},
    "language": "pt",
    "event_at": "2024-01-01T00:00:00Z",
    "event_precision": "day",
    "said_at": "2024-02-01T10:00:00Z",
    "valid_from": "2024-01-15T00:00:00Z",
    "valid_until": "2026-01-15T00:00:00Z",
    "expires_at": "2030-01-15T00:00:00Z",
    "status": "archived",
    "confidence": 0.42,
    "source_confidence": "inferred",
    "grounding": "Partial",
    "speech_act": "quoted",
    "importance": 0.9,
    "session_id": "monday",
    "evidence": "I prefer tea",
    "extractor": "import:old",
}


def test_every_field_can_be_set(client: APIClient, trusted: APIClient) -> None:
    (stored,) = put(trusted, {**EVERYTHING, "object": {"list": ["tea", "mate"]}, "subject": {"name": "Ana"}})

    assert {name: stored[name] for name in EVERYTHING} == EVERYTHING
    assert stored["object"] == {"list": ["tea", "mate"]}
    assert stored["subject"]["name"] == "Ana"
    assert sum(v for k, v in stored["confidence_parts"].items() if k != "capped_at") == pytest.approx(0.42)
    assert client.get(f"/v1/memories/{stored['id']}").json()["metadata"] == EVERYTHING["metadata"]


def test_what_is_left_out_is_chosen(client: APIClient) -> None:
    (stored,) = put(client, {"type": "fact", "content": "Ana lives in Lisbon."})

    assert (stored["status"], stored["extractor"], stored["subject"]) == ("active", "direct", None)
    assert 0.5 < stored["confidence"] <= 1
    assert OutboxRow.objects.get().kind == WorkKind.INDEX_MEMORY


def test_an_unsure_memory_waits_for_a_person(client: APIClient) -> None:
    (stored,) = put(client, {"type": "fact", "content": "Ana may be a doctor.", "speech_act": "hypothetical"})

    assert (stored["status"], stored["review_reasons"]) == ("pending_review", ["low_confidence"])
    assert listed(client) == []
    assert listed(client, "&status=pending_review") == ["Ana may be a doctor."]


def test_a_sure_memory_that_is_to_be_reviewed_is_not_said_to_be_unsure(client: APIClient) -> None:
    (stored,) = put(client, {"type": "fact", "content": "Ana is a doctor.", "status": "pending_review"})

    assert stored["confidence"] >= 0.5
    assert (stored["status"], stored["review_reasons"]) == ("pending_review", [])


@pytest.mark.parametrize(
    ("given", "kind", "tags"),
    [("episodic", "event", []), ("decision", "event", ["decision"]), ("procedural", "preference", ["procedure"])],
)
def test_categories_of_other_systems(client: APIClient, given: str, kind: str, tags: list[str]) -> None:
    (stored,) = put(client, {"type": given, "content": "Ana cut her hair."})

    assert (stored["type"], stored["tags"]) == (kind, tags)


def test_entities_are_found_by_name_or_made_once(client: APIClient) -> None:
    first, second, third = put(
        client, LISBON, {**LISBON, "subject": "the user", "object": {"entity": "lisbon"}}, {**LISBON, "subject": "Bo"}
    )
    (fourth,) = put(client, {**LISBON, "content": "Bo lives in Lisbon.", "subject": "Bo"})

    assert first["subject"] == second["subject"]
    assert first["object"] == second["object"] == fourth["object"]
    assert third["subject"] == fourth["subject"] != first["subject"]
    assert Entity.objects.count() == 3
    assert Entity.objects.get(is_user=True).shown_id == first["subject"]["id"]


def test_all_or_none(client: APIClient) -> None:
    before = rows_by_table()
    successor = {"status": "superseded", "valid_until": "2030-01-01T00:00:00Z", "superseded_by": "mem_" + "0" * 32}

    answer = client.post("/v1/memories", {"user_id": "ana", "memories": [LISBON, {**LISBON, **successor}]})

    assert answer.status_code == 422
    assert rows_by_table() == before


def test_filters(client: APIClient) -> None:
    lisbon, _, _ = put(
        client,
        {**LISBON, "topic": "home", "said_at": "2024-01-01T00:00:00Z"},
        {"type": "event", "content": "Ana ran.", "tags": ["sport", "fun"], "said_at": "2024-06-01T00:00:00Z"},
        {"type": "fact", "content": "Ana is well.", "topic": "health", "status": "archived"},
    )
    put(client, {"type": "fact", "content": "Bob is tall."}, user_id="bob")
    place = lisbon["object"]["entity"]

    assert listed(client) == ["Ana ran.", "Ana lives in Lisbon."]
    assert listed(client, "&type=event") == ["Ana ran."]
    assert listed(client, "&type=event&type=fact") == ["Ana ran.", "Ana lives in Lisbon."]
    assert listed(client, "&topic=home") == ["Ana lives in Lisbon."]
    assert listed(client, "&tag=sport&tag=fun") == ["Ana ran."]
    assert listed(client, "&tag=sport&tag=work") == []
    assert listed(client, "&status=archived") == ["Ana is well."]
    assert listed(client, "&from=2024-03-01T00:00:00Z") == ["Ana ran."]
    assert listed(client, "&to=2024-03-01T00:00:00Z") == ["Ana lives in Lisbon."]
    assert listed(client, f"&entity={place}") == ["Ana lives in Lisbon."]
    assert listed(client, f"&entity={lisbon['subject']['id']}") == ["Ana lives in Lisbon."]
    assert listed(client, user_id="bob") == ["Bob is tall."]
    assert listed(client, user_id="nobody") == []


def test_admin_keys_list_all_end_users(client: APIClient, project: Project, client_of: MakeClient) -> None:
    put(client, LISBON)
    put(client, LISBON, user_id="bob")

    answer = client_of(project, Scope.ADMIN).get("/v1/memories")

    assert {memory["user_id"] for memory in answer.json()["results"]} == {"ana", "bob"}


def test_pages(client: APIClient) -> None:
    put(client, *({"type": "fact", "content": f"Fact {n}."} for n in range(7)))
    seen: list[str] = []
    address: str | None = "/v1/memories?user_id=ana&limit=3"

    for _ in range(3):
        assert address is not None
        page = client.get(address).json()
        seen += [memory["content"] for memory in page["results"]]
        address = page["next"]
        put(client, {"type": "fact", "content": "A new one, while someone reads."})

    assert address is None
    assert sorted(seen) == [f"Fact {n}." for n in range(7)]


def test_lists_cost_the_same_for_one_and_for_many(client: APIClient, django_assert_max_num_queries: Any) -> None:
    put(
        client,
        *({**LISBON, "content": f"Fact {n}.", "subject": f"Person {n}", "session_id": f"{n}"} for n in range(30)),
    )
    client.get("/v1/memories?user_id=ana")  # notes the key's use

    for path in ("/v1/memories", "/v1/entities", "/v1/traces"):
        with django_assert_max_num_queries(3):
            client.get(f"{path}?user_id=ana&limit=50")
    with django_assert_max_num_queries(3):
        client.get(f"/v1/memories?user_id=ana&limit=50&known_at={timezone.now():%Y-%m-%dT%H:%M:%S}Z")


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
    assert change["actor"] == f"key:{api_key.key.id}"
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
    project: Project, client_of: MakeClient, before: str, after: str, operation: str | None
) -> None:
    admin = client_of(project, Scope.ADMIN)
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


@pytest.mark.parametrize("given", ["as_of", "both"])
def test_as_of_means_the_same_in_lists_and_in_search(client: APIClient, given: str) -> None:
    """`as_of` selects by validity as known now or, with `known_at`, as known at that time."""
    (old,) = put(client, {**LISBON, "said_at": "2026-01-01T00:00:00Z"})
    between = timezone.now()
    put(client, {**ROME, "said_at": "2026-03-01T00:00:00Z"})

    def found(as_of: str, known_at: datetime | None = None) -> list[list[str]]:
        moments = {"as_of": as_of} | ({"known_at": known_at.isoformat()} if known_at else {})
        in_list = client.get("/v1/memories", {"user_id": "ana", **moments}).json()["results"]
        in_search = client.post("/v1/memories/search", {"user_id": "ana", "query": "Ana lives", **moments}).json()
        return [[each["content"] for each in results] for results in (in_list, in_search["results"])]

    if given == "as_of":
        assert found("2025-12-31") == [[], []]
        assert found("2026-02-01") == [["Ana lives in Lisbon."]] * 2
        assert found("2026-04-01") == [["Ana lives in Rome."]] * 2
    else:
        assert found("2026-04-01", between) == [["Ana lives in Lisbon."]] * 2
        assert found("2026-02-01", between) == [["Ana lives in Lisbon."]] * 2
        assert found("2026-04-01", timezone.now()) == [["Ana lives in Rome."]] * 2
    assert client.get(f"/v1/memories/{old['id']}").json()["status"] == "superseded"


def test_entities(client: APIClient) -> None:
    (stored,) = put(client, LISBON)
    put(client, {**LISBON, "status": "archived"})

    people = client.get("/v1/entities?user_id=ana&type=person").json()["results"]
    assert [(entity["name"], entity["is_user"]) for entity in people] == [("User", True)]
    detail = client.get(f"/v1/entities/{people[0]['id']}").json()
    assert [fact["id"] for fact in detail["facts"]] == [stored["id"]]
    place = client.get(f"/v1/entities/{stored['object']['entity']}").json()
    assert (place["name"], place["aliases"], place["type"]) == ("Lisbon", ["Lisbon"], "place")
    assert client.get("/v1/entities/ent_x").status_code == 404
