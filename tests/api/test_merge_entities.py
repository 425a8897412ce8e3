"""/v1/entities/{id}/merge: merging two entities, and undoing it."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.memories.models import Entity, LedgerEntry, Memory, MemoryLink
from apps.pipeline.core.enums import LinkStatus, Status


def statement(content: str, name: str, predicate: str, value: str, **more: Any) -> dict[str, Any]:
    subject = {"name": name, "type": "person"}
    return {
        "type": "fact",
        "content": content,
        "subject": subject,
        "predicate": predicate,
        "object": {"literal": value},
        **more,
    }


def put(client: APIClient, *memories: dict[str, Any], user_id: str = "ana") -> None:
    answer = client.post("/v1/memories", {"user_id": user_id, "memories": list(memories)})
    assert answer.status_code == 201, answer.content


def entity(name: str) -> Entity:
    return Entity.objects.get(name=name)


def merge(client: APIClient, name: str, into: str) -> Any:
    return client.post(f"/v1/entities/{entity(name).shown_id}/merge", {"into": entity(into).shown_id})


def split(client: APIClient, name: str) -> Any:
    return client.delete(f"/v1/entities/{entity(name).shown_id}/merge")


def state() -> dict[str, tuple[Any, ...]]:
    return {
        row.content: (row.subject.name, row.status, row.object_text, row.canonical_hash, row.superseded_by_id)
        for row in Memory.objects.select_related("subject")
    }


BOTH = (
    statement("Bob sails.", "Bob", "likes", "sailing"),
    statement("Robert lives in Kiel.", "Robert", "lives_in", "Kiel", said_at="2024-01-01T00:00:00Z"),
    statement("Bob lives in Bonn.", "Bob", "lives_in", "Bonn", said_at="2024-06-01T00:00:00Z"),
    statement("Robert enjoys sailing.", "Robert", "likes", "sailing"),
    {
        **statement("Lena is married to Bob.", "Lena", "has_spouse", "x"),
        "object": {"entity": {"name": "Bob", "type": "person"}},
    },
)


def test_everything_points_at_the_one_that_stays(admin: APIClient) -> None:
    put(admin, *BOTH)
    answer = merge(admin, "Bob", into="Robert")
    assert answer.status_code == 200, answer.content
    assert set(answer.json()["aliases"]) >= {"Bob", "Robert"}
    assert {found[0] for found in state().values()} == {"Robert", "Lena"}
    assert Memory.objects.get(predicate="has_spouse").object_text == "Robert"
    assert entity("Bob").merged_into == entity("Robert")
    listed = admin.get("/v1/entities?user_id=ana").json()["results"]
    assert sorted(each["name"] for each in listed) == ["Lena", "Robert"]


def test_one_value_a_slot_is_left_and_no_hash_is_shared(admin: APIClient) -> None:
    put(admin, *BOTH)
    merge(admin, "Bob", into="Robert")
    live = Memory.objects.filter(status__in=[Status.ACTIVE, Status.PENDING_REVIEW])
    assert [row.content for row in live.filter(predicate="lives_in")] == ["Bob lives in Bonn."]
    assert live.count() == live.values("canonical_hash").distinct().count()
    assert MemoryLink.objects.get().kind == "possible_duplicate"


def test_a_split_takes_it_all_back(admin: APIClient) -> None:
    put(admin, *BOTH)
    before = state()
    merge(admin, "Bob", into="Robert")
    assert state() != before
    assert split(admin, "Bob").json()["merged_into"] is None
    assert state() == before
    assert MemoryLink.objects.get().status == LinkStatus.SETTLED
    verbs = LedgerEntry.objects.filter(object_id=entity("Bob").id).order_by("id").values_list("verb", flat=True)
    assert [verb for verb in verbs if verb != "added"] == ["entity_merged", "entity_split"]


def test_a_second_merge_and_split_do_the_same(admin: APIClient) -> None:
    put(admin, *BOTH)
    before = state()
    for _ in range(2):
        assert merge(admin, "Bob", into="Robert").status_code == 200
        assert merge(admin, "Bob", into="Robert").status_code == 200
        assert split(admin, "Bob").status_code == 200
        assert state() == before


def test_what_was_changed_since_stays_changed(admin: APIClient) -> None:
    put(admin, *BOTH)
    merge(admin, "Bob", into="Robert")
    sails = Memory.objects.get(content="Bob sails.")
    admin.patch(f"/v1/memories/{sails.shown_id}", {"content": "Bob sails a dinghy."})
    split(admin, "Bob")
    sails.refresh_from_db()
    assert (sails.content, sails.subject) == ("Bob sails a dinghy.", entity("Bob"))
    history = admin.get(f"/v1/memories/{sails.shown_id}/history").json()
    assert [each["operation"] for each in history["versions"]] == ["entity_merged", "revised", "entity_split"]


def test_what_cannot_be_merged_is_refused(admin: APIClient, client: APIClient) -> None:
    put(admin, *BOTH, {**statement("Ana naps.", "x", "naps", "x"), "subject": "User"})
    put(admin, statement("Cy naps.", "Cy", "likes", "naps"), user_id="cy")
    assert merge(client, "Bob", into="Robert").status_code == 403
    assert merge(admin, "Bob", into="Bob").status_code == 422
    assert merge(admin, "Bob", into="Cy").status_code == 422
    assert merge(admin, "User", into="Bob").status_code == 422
    assert split(admin, "Bob").status_code == 409
    assert admin.post(f"/v1/entities/{entity('Bob').shown_id}/merge", {"into": "x"}).status_code == 422
    merge(admin, "Bob", into="Robert")
    assert merge(admin, "Lena", into="Bob").status_code == 409
    assert admin.post("/v1/entities/ent_0/merge", {"into": entity("Bob").shown_id}).status_code == 404


def lives_in(place: str, month: int, *, who: str = "Robert", **more: Any) -> dict[str, Any]:
    said = f"2024-{month:02}-01T00:00:00Z"
    return statement(f"{who} lives in {place}.", who, "lives_in", place, said_at=said, **more)


def active(predicate: str = "lives_in") -> dict[str, str]:
    rows = Memory.objects.filter(predicate=predicate, status=Status.ACTIVE).select_related("subject")
    return {row.object_text: row.subject.name for row in rows}


@pytest.mark.parametrize("month", [4, 9])
def test_a_split_reopens_nothing_into_a_slot_that_is_held_by_then(admin: APIClient, month: int) -> None:
    put(admin, *BOTH)
    merge(admin, "Bob", into="Robert")
    put(admin, lives_in("Ulm", month))
    if month == 4:  # a late arrival beside Bonn, which goes
        bonn = Memory.objects.get(object_text="Bonn")
        admin.delete(f"/v1/memories/{bonn.shown_id}")
        ulm = Memory.objects.get(object_text="Ulm")
        assert ulm.status == Status.SUPERSEDED
    split(admin, "Bob")
    kiel = Memory.objects.get(object_text="Kiel")
    assert active() == ({"Ulm": "Robert"} if month == 9 else {"Kiel": "Robert"})
    if month == 9:
        assert kiel.superseded_by == Memory.objects.get(object_text="Ulm")


def test_a_split_leaves_one_value_to_the_one_who_leaves(admin: APIClient) -> None:
    put(
        admin,
        lives_in("Kiel", 6),
        lives_in("Bonn", 1, who="Bob"),
        lives_in("Ulm", 9, who="Bob", status="pending_review"),
    )
    merge(admin, "Bob", into="Robert")
    ulm = Memory.objects.get(object_text="Ulm")
    assert admin.patch(f"/v1/memories/{ulm.shown_id}", {"status": "active"}).status_code == 200
    split(admin, "Bob")
    assert active() == {"Ulm": "Bob"}
    assert Memory.objects.get(object_text="Bonn").superseded_by == ulm


def test_a_memory_reworded_since_the_merge_has_the_hash_of_its_new_words(admin: APIClient) -> None:
    naps = {"type": "fact", "content": "Bob naps.", "subject": {"name": "Bob", "type": "person"}}
    put(admin, naps, statement("Robert sails.", "Robert", "likes", "sailing"))
    merge(admin, "Bob", into="Robert")
    memory = Memory.objects.get(content="Bob naps.")
    admin.patch(f"/v1/memories/{memory.shown_id}", {"content": "Bob naps at noon."})
    put(admin, {**naps, "subject": {"name": "Robert", "type": "person"}})
    split(admin, "Bob")
    live = Memory.objects.filter(status__in=[Status.ACTIVE, Status.PENDING_REVIEW])
    assert live.count() == live.values("canonical_hash").distinct().count() == 3


def test_a_merge_takes_no_hash_that_a_third_entity_holds(admin: APIClient) -> None:
    tall = {"type": "fact", "content": "This one is tall."}
    put(admin, *({**tall, "subject": {"name": name, "type": "person"}} for name in ("Lena", "Bob")))
    put(admin, statement("Robert sails.", "Robert", "likes", "sailing"))
    merge(admin, "Bob", into="Robert")
    assert Memory.objects.count() == Memory.objects.values("canonical_hash").distinct().count() == 3
    assert not MemoryLink.objects.exists()


def test_a_split_gives_a_known_end_back(admin: APIClient) -> None:
    put(admin, lives_in("Kiel", 1, valid_until="2024-12-31T00:00:00Z"), lives_in("Bonn", 6, who="Bob"))
    merge(admin, "Bob", into="Robert")
    kiel = Memory.objects.get(object_text="Kiel")
    assert f"{kiel.valid_until:%Y-%m-%d}" == "2024-06-01"
    split(admin, "Bob")
    kiel.refresh_from_db()
    assert (kiel.status, f"{kiel.valid_until:%Y-%m-%d}") == (Status.ACTIVE, "2024-12-31")


def test_two_events_of_one_wording_stay_two_through_a_merge_and_a_split(admin: APIClient) -> None:
    for day in ("2024-06-01", "2024-01-01"):
        when = {"type": "event", "said_at": f"{day}T00:00:00Z", "event_at": f"{day}T00:00:00Z"}
        put(admin, statement("Bob was called.", "Bob", "was", "called", **when))
    put(admin, statement("Robert sails.", "Robert", "likes", "sailing"))
    before = state_of_calls()
    assert merge(admin, "Bob", into="Robert").status_code == 200
    assert split(admin, "Bob").status_code == 200
    after = state_of_calls()
    assert [name for name, _ in after] == [name for name, _ in before] == ["Bob", "Bob"]
    assert len({found for _, found in after}) == 2


def state_of_calls() -> list[tuple[str, str]]:
    rows = Memory.objects.filter(type="event").select_related("subject").order_by("id")
    return [(row.subject.name, row.canonical_hash) for row in rows]
