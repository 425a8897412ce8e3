"""Many memories at once: each item is stored, revised or retracted, or told why not."""

import json
from typing import Any

from rest_framework.test import APIClient

from apps.memories.models import Memory
from apps.memories.services.store import CHUNK
from apps.pipeline.core.enums import Status
from tests.api.storing import LISBON, listed, put


def fact(number: int, **more: Any) -> dict[str, Any]:
    return {"type": "fact", "content": f"Ana has boat number {number}.", **more}


def post(client: APIClient, *memories: Any) -> dict[str, Any]:
    answer = client.post("/v1/memories/batch", {"user_id": "ana", "memories": list(memories)})
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    return body


def test_what_is_wrong_is_told_and_the_rest_is_stored(client: APIClient) -> None:
    unknown = "mem_01a1f8c0283075afaf9f7de008d31f99"
    late = {"status": "superseded", "valid_until": "2026-01-01T00:00:00Z", "superseded_by": unknown}
    body = post(
        client,
        fact(1),
        {"type": "fact"},
        fact(2, **late),
        fact(3, topic="a\u202e"),
        fact(4, object={}),
        LISBON,
        fact(1),
    )

    codes = [each["code"] for each in body["results"]]
    assert codes == [None, *["invalid_request"] * 4, None, None]
    assert [[error["pointer"] for error in each["errors"]] for each in body["results"][1:5]] == [
        ["/content"],
        ["/superseded_by"],
        ["/topic"],
        ["/object"],
    ]
    assert body["results"][0]["memory_id"] == body["results"][6]["memory_id"]
    assert (body["done"], body["refused"], [each["index"] for each in body["results"]]) == (3, 4, list(range(7)))
    assert sorted(listed(client)) == [fact(1)["content"], LISBON["content"]]


def test_more_than_a_transaction_holds(client: APIClient) -> None:
    wrong = {**fact(0), "valid_from": "2026-02-01T00:00:00Z", "valid_until": "2026-01-01T00:00:00Z"}
    body = post(client, *(fact(number) for number in range(CHUNK)), wrong, fact(CHUNK))

    assert (body["done"], body["refused"]) == (CHUNK + 1, 1)
    assert body["results"][CHUNK]["errors"][0]["pointer"] == "/valid_until"
    assert Memory.objects.count() == CHUNK + 1


def test_too_many_are_refused(client: APIClient) -> None:
    answer = client.post("/v1/memories/batch", {"user_id": "ana", "memories": [{"content": "x"}] * 1_001})

    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/memories")


def test_several_revisions(client: APIClient) -> None:
    one, two = put(client, fact(1), fact(2))
    answer = client.patch(
        "/v1/memories",
        {
            "memories": [
                {"id": one["id"], "metadata": {"k": 1}},
                {"id": two["id"], "importance": 0.9, "version": 7},
                {"id": "mem_01a1f8c0283075afaf9f7de008d31f99", "importance": 0.9},
                {"id": "x", "importance": 0.9},
                {"id": two["id"], "importance": 2},
                {"id": two["id"], "status": "retracted"},
            ]
        },
    )

    assert answer.status_code == 200, answer.content
    body = answer.json()
    assert [each["code"] for each in body["results"]] == [
        None,
        "conflict",
        "not_found",
        "invalid_request",
        "invalid_request",
        "insufficient_scope",
    ]
    assert (body["done"], body["refused"]) == (1, 5)
    assert client.get(f"/v1/memories/{one['id']}").json()["metadata"] == {"k": 1}


def test_a_retraction_is_tried_first_and_confirmed_by_its_number(client: APIClient, admin: APIClient) -> None:
    put(client, fact(1, topic="sea"), fact(2, topic="sea", agent_id="a1"), LISBON)
    put(client, fact(3, topic="sea"), user_id="ben")
    query = f"user_id=ana&filter={json.dumps({'topic': 'sea'})}"

    tried = admin.delete(f"/v1/memories?{query}").json()
    assert tried == {"matching": 2, "is_dry_run": True, "done": 0, "refused": 0, "results": []}
    assert len(listed(client)) == 3
    assert admin.delete(f"/v1/memories?{query}&confirm=3").status_code == 409
    made = admin.delete(f"/v1/memories?{query}&confirm=2").json()
    assert (made["matching"], made["is_dry_run"], made["done"]) == (2, False, 2)
    assert listed(client) == [LISBON["content"]]
    assert Memory.objects.filter(status=Status.RETRACTED).count() == 2
    assert admin.delete(f"/v1/memories?{query}").json()["matching"] == 0


def test_many_memories_are_retracted_by_admins_alone(client: APIClient) -> None:
    put(client, LISBON)
    assert client.delete("/v1/memories?user_id=ana&confirm=1").json()["code"] == "insufficient_scope"
    assert len(listed(client)) == 1


def test_a_retraction_names_its_end_user(admin: APIClient) -> None:
    answer = admin.delete("/v1/memories?agent_id=a1")

    assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (422, "user_id")


def test_numbers_of_an_end_user(client: APIClient, conversation: dict[str, Any]) -> None:
    put(client, fact(1, agent_id="a1"), fact(2, agent_id="a1", session_id="s"), LISBON)
    client.delete(f"/v1/memories/{put(client, fact(3))[0]['id']}")

    body = client.get("/v1/users/ana/stats").json()
    assert (body["by_status"], body["by_type"]) == ({"active": 3, "retracted": 1}, {"fact": 3})
    assert (body["by_agent"], body["sessions"], body["turns"]) == ({"a1": 2}, 1, 0)
    assert body["first_said_at"] <= body["last_said_at"]
    assert client.get("/v1/users/nobody/stats").status_code == 404
