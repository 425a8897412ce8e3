"""Say turns, and store and list memories over the API."""

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


def say(client: APIClient, *contents: str, on: str = "", session: str = "s", **more: Any) -> dict[str, Any]:
    """Send turns, of a day if one is given, and return what became of them."""
    at = {"occurred_at": f"{on}T10:00:00Z"} if on else {}
    turns = [{"role": "user", "content": content, **at} for content in contents]
    body = {"user_id": "ana", "session_id": session, "mode": "sync", "turns": turns, **more}
    answer = client.post("/v1/turns", body)
    assert answer.status_code == 200, answer.content
    outcome: dict[str, Any] = answer.json()
    return outcome
