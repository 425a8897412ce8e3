"""Direct stores and revisions: no duplicates, one value per slot, nothing lost."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.memories.models import LedgerEntry, Memory, MemoryVersion
from apps.pipeline.core.enums import LIVE_STATUSES, Status
from tests.api.counting import rows_by_table
from tests.api.test_memories import LISBON, put

PORTO = {**LISBON, "content": "Ana lives in Porto.", "object": {"entity": {"name": "Porto", "type": "place"}}}
TALL = {"type": "fact", "content": "Ana is tall."}


def on(day: int, memory: dict[str, Any]) -> dict[str, Any]:
    return {**memory, "said_at": f"2025-01-{day:02}T00:00:00Z"}


def standing() -> dict[str, str]:
    return {row.content: row.status for row in Memory.objects.all()}


def hashes_are_apart() -> bool:
    live = Memory.objects.filter(status__in=LIVE_STATUSES)
    return live.count() == live.values("canonical_hash").distinct().count()


@pytest.mark.parametrize("memory", [LISBON, TALL])
def test_what_is_known_is_not_stored_twice(client: APIClient, memory: dict[str, Any]) -> None:
    (first,) = put(client, memory)
    before = rows_by_table()
    (second, third) = put(client, {**memory, "content": f"{memory['content'].upper()}"}, memory)
    assert first["id"] == second["id"] == third["id"]
    assert rows_by_table() == before
    assert Memory.objects.get().version == 1


def test_one_request_that_says_it_twice_stores_it_once(client: APIClient) -> None:
    (first, second) = put(client, LISBON, {**LISBON, "session_id": "monday"})
    assert first["id"] == second["id"]


@pytest.mark.parametrize("known", [(), (on(1, LISBON),)])
def test_a_value_can_change_and_return_within_one_request(client: APIClient, known: tuple[dict[str, Any], ...]) -> None:
    for memory in known:
        put(client, memory)
    stored = put(client, *(() if known else (on(1, LISBON),)), on(2, PORTO), on(3, LISBON))
    assert [each["status"] for each in stored[-2:]] == ["superseded", "active"]
    rows = Memory.objects.order_by("said_at").values_list("object_text", "status")
    assert list(rows) == [("Lisbon", "superseded"), ("Porto", "superseded"), ("Lisbon", "active")]
    assert hashes_are_apart()


def test_the_more_informative_wording_wins(client: APIClient) -> None:
    (first,) = put(client, LISBON)
    (second,) = put(client, {**LISBON, "content": "Ana lives in Lisbon, in the old quarter of Alfama."})
    assert (second["id"], second["content"]) == (first["id"], "Ana lives in Lisbon, in the old quarter of Alfama.")
    past = MemoryVersion.objects.get()
    assert (past.operation, past.values["content"]) == ("merged", "Ana lives in Lisbon.")
    assert LedgerEntry.objects.filter(verb="merged", object_id=past.memory_id).exists()


def test_one_triple_with_two_numbers_is_two_memories(client: APIClient) -> None:
    cats = {**LISBON, "predicate": "knows", "object": {"literal": "cats"}}
    two, three = {**cats, "content": "Ana knows 2 cats."}, {**cats, "content": "Ana knows 3 cats."}
    put(client, two, three)
    put(client, three, two)
    assert sorted(standing()) == ["Ana knows 2 cats.", "Ana knows 3 cats."]
    assert hashes_are_apart()


def test_one_sentence_about_two_people_is_two_memories(client: APIClient) -> None:
    put(client, {**TALL, "subject": "Ana"}, {**TALL, "subject": "Bo"})
    assert Memory.objects.count() == 2
    assert hashes_are_apart()


def test_a_newer_value_closes_the_older_one(client: APIClient) -> None:
    (lisbon,) = put(client, on(1, LISBON))
    (porto,) = put(client, on(9, PORTO))
    closed = client.get(f"/v1/memories/{lisbon['id']}").json()
    assert (closed["status"], closed["superseded_by"]) == ("superseded", porto["id"])
    assert closed["valid_until"] == porto["valid_from"]
    assert MemoryVersion.objects.get().operation == "superseded"
    assert LedgerEntry.objects.filter(verb="superseded").count() == 1


@pytest.mark.parametrize("order", [(1, 9), (9, 1)])
def test_in_one_request_the_value_said_last_is_left(client: APIClient, order: tuple[int, int]) -> None:
    put(client, on(order[0], LISBON), on(order[1], PORTO))
    latest = "Ana lives in Porto." if order == (1, 9) else "Ana lives in Lisbon."
    assert [content for content, status in standing().items() if status == Status.ACTIVE] == [latest]
    history = Memory.objects.get(status=Status.SUPERSEDED)
    assert history.superseded_by == Memory.objects.get(content=latest)


def test_a_late_arrival_is_history(client: APIClient) -> None:
    (lisbon,) = put(client, on(9, LISBON))
    (porto,) = put(client, on(1, PORTO))
    assert (porto["status"], porto["superseded_by"]) == ("superseded", lisbon["id"])
    assert porto["valid_until"] == lisbon["valid_from"]
    assert not MemoryVersion.objects.exists()


def test_a_time_that_is_over_closes_nothing_and_keeps_its_end(client: APIClient) -> None:
    (lisbon,) = put(client, on(1, LISBON))
    (porto,) = put(
        client, on(9, {**PORTO, "valid_from": "2010-01-01T00:00:00Z", "valid_until": "2012-01-01T00:00:00Z"})
    )
    assert standing()["Ana lives in Lisbon."] == "active"
    assert (porto["status"], porto["superseded_by"]) == ("superseded", lisbon["id"])
    assert porto["valid_until"] == "2012-01-01T00:00:00Z"


def test_a_weaker_value_waits_for_a_person(client: APIClient) -> None:
    put(client, on(1, {**LISBON, "confidence": 0.95}))
    (porto,) = put(client, on(9, {**PORTO, "confidence": 0.6}))
    assert (porto["status"], porto["review_reasons"]) == ("pending_review", ["weaker_evidence"])
    assert standing()["Ana lives in Lisbon."] == "active"


@pytest.mark.parametrize(
    "beside",
    [
        {"status": "pending_review"},
        {"status": "archived"},
        {"polarity": "negative"},
        {"type": "event"},
        {"stateful": False},
        {"subject": "Bo"},
        {"evidence": "I also live in Porto."},
    ],
)
def test_what_takes_no_slot_closes_nothing(client: APIClient, beside: dict[str, Any]) -> None:
    put(client, on(1, LISBON))
    put(client, on(9, {**PORTO, **beside}))
    assert standing()["Ana lives in Lisbon."] == "active"
    assert Memory.objects.filter(status=Status.SUPERSEDED).count() == 0


def test_a_wording_that_another_memory_has_is_refused(client: APIClient) -> None:
    tall, short = put(client, TALL, {**TALL, "content": "Ana is short."})
    before = rows_by_table()
    answer = client.patch(f"/v1/memories/{short['id']}", {"content": "Ana is tall!"})
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert tall["id"] in answer.json()["detail"]
    assert rows_by_table() == before
    client.delete(f"/v1/memories/{tall['id']}")
    assert client.patch(f"/v1/memories/{short['id']}", {"content": "Ana is tall!"}).status_code == 200


@pytest.mark.parametrize("status", ["archived", "rejected"])
def test_a_retracted_memory_is_not_restored_beside_a_newer_one_that_says_the_same(
    admin: APIClient, status: str
) -> None:
    (old,) = put(admin, {**TALL, "status": status})
    (new,) = put(admin, TALL)
    back = "active" if status == "archived" else "pending_review"
    answer = admin.patch(f"/v1/memories/{old['id']}", {"status": back})
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert new["id"] in answer.json()["detail"]


def test_a_restored_memory_that_says_something_else_stands_beside(admin: APIClient) -> None:
    (old,) = put(admin, {**TALL, "subject": "Ana", "status": "archived"})
    put(admin, {**TALL, "subject": "Bo"})
    assert admin.patch(f"/v1/memories/{old['id']}", {"status": "active"}).status_code == 200
    assert hashes_are_apart()


def test_a_restored_value_meets_what_has_come_into_its_slot(admin: APIClient) -> None:
    (lisbon,) = put(admin, on(1, {**LISBON, "status": "archived"}))
    put(admin, on(9, PORTO))
    assert admin.patch(f"/v1/memories/{lisbon['id']}", {"status": "active"}).json()["status"] == "superseded"
