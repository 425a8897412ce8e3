"""Store and review memories, and ask as an agent does."""

from typing import Any

from django.test import Client
from rest_framework.test import APIClient

from apps.memories.models import Memory
from tests.console.members import HOME, seen


def context(client: APIClient, stakes: str = "normal") -> str:
    answer = client.post("/v1/context", {"user_id": "ana", "query": "", "stakes": stakes, "token_budget": 800})
    assert answer.status_code == 200, answer.content
    return str(answer.json())


def found(client: APIClient, query: str, stakes: str = "normal") -> list[str]:
    answer = client.post("/v1/memories/search", {"user_id": "ana", "query": query, "stakes": stakes})
    assert answer.status_code == 200, answer.content
    return [hit["content"] for hit in answer.json()["results"]]


def approve(rita: Client, memory: Memory, **more: Any) -> str:
    answer = rita.post(f"{HOME}review/approve/", {"memory": seen(memory), **more})
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def direct(client: APIClient, content: str, **more: Any) -> Memory:
    body = {"type": "fact", "subject": "User", "content": content, **more}
    answer = client.post("/v1/memories", {"user_id": "ana", "memories": [body]})
    assert answer.status_code == 201, answer.content
    return Memory.objects.get(content=content)


def lives_in(client: APIClient, place: str, *, on: str, **more: Any) -> Memory:
    value = {"entity": {"name": place, "type": "place"}}
    at = f"{on}T10:00:00Z"
    return direct(client, f"User lives in {place}.", predicate="lives_in", object=value, said_at=at, **more)
