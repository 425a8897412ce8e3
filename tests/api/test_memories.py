"""/v1/memories: store, list, read, revise, retract, history, and past states."""

from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from apps.memories.models import Entity
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import Scope, WorkKind
from apps.tenants.models import Project
from tests.api.counting import rows_by_table
from tests.api.storing import LISBON, listed, put
from tests.conftest import MakeClient

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
    "grounding": "partial",
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

    assert (stored["status"], stored["review_reasons"]) == ("pending_review", ["not_asserted"])
    assert listed(client) == []
    assert listed(client, "&statuses=pending_review") == ["Ana may be a doctor."]


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
    assert listed(client, "&types=event") == ["Ana ran."]
    assert listed(client, "&types=event&types=fact") == ["Ana ran.", "Ana lives in Lisbon."]
    assert listed(client, "&topics=home") == ["Ana lives in Lisbon."]
    assert listed(client, "&tags=sport&tags=fun") == ["Ana ran."]
    assert listed(client, "&tags=sport&tags=work") == []
    assert listed(client, "&statuses=archived") == ["Ana is well."]
    assert listed(client, "&since=2024-03-01T00:00:00Z") == ["Ana ran."]
    assert listed(client, "&until=2024-03-01T00:00:00Z") == ["Ana lives in Lisbon."]
    assert listed(client, f"&entities={place}") == ["Ana lives in Lisbon."]
    assert listed(client, f"&entities={lisbon['subject']['id']}") == ["Ana lives in Lisbon."]
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


def test_entities(client: APIClient) -> None:
    (stored,) = put(client, LISBON)
    put(client, {**LISBON, "status": "archived"})

    people = client.get("/v1/entities?user_id=ana&types=person").json()["results"]
    assert [(entity["name"], entity["is_user"]) for entity in people] == [("User", True)]
    detail = client.get(f"/v1/entities/{people[0]['id']}").json()
    assert [fact["id"] for fact in detail["facts"]] == [stored["id"]]
    place = client.get(f"/v1/entities/{stored['object']['entity']}").json()
    assert (place["name"], place["aliases"], place["type"]) == ("Lisbon", ["Lisbon"], "place")
    assert client.get("/v1/entities/ent_x").status_code == 404
