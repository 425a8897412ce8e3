"""Store and list memories over the API."""

from typing import Any

from rest_framework.test import APIClient

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
    stored: list[dict[str, Any]] = answer.json()["results"]
    return stored


def listed(client: APIClient, query: str = "", user_id: str = "ana") -> list[str]:
    answer = client.get(f"/v1/memories?user_id={user_id}{query}")
    assert answer.status_code == 200, answer.content
    return [memory["content"] for memory in answer.json()["results"]]
