"""A former value that returns is stored again, even in the same words and session."""

import pytest
from rest_framework.test import APIClient

from apps.memories.models import Memory
from apps.pipeline.core.enums import Status


def say(client: APIClient, content: str, *, day: int) -> None:
    turn = {"role": "user", "content": content, "occurred_at": f"2025-01-{day:02}T10:00:00Z"}
    answer = client.post("/v1/turns", {"user_id": "ana", "session_id": "s", "mode": "sync", "turns": [turn]})
    assert answer.status_code == 200, answer.content


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I live in Berlin.", "I live in Munich."),
        ("I live in Berlin.", "I moved to Munich."),
        ("I moved to Berlin.", "I moved to Munich."),
    ],
)
def test_a_place_stated_again_in_the_same_words(client: APIClient, first: str, second: str) -> None:
    for day, content in enumerate((first, second, "ok thanks", first, second, first), start=1):
        say(client, content, day=day)
    homes = Memory.objects.filter(predicate="lives_in").order_by("said_at")
    assert [(row.object_text, row.status) for row in homes] == [
        ("Berlin", Status.SUPERSEDED),
        ("Munich", Status.SUPERSEDED),
        ("Berlin", Status.SUPERSEDED),
        ("Munich", Status.SUPERSEDED),
        ("Berlin", Status.ACTIVE),
    ]
    assert [row.valid_until for row in homes][:-1] == [row.valid_from for row in homes][1:]


def test_what_is_only_said_twice_is_one_memory(client: APIClient) -> None:
    for day, content in enumerate(("I live in Berlin.", "I own a boat.", "I live in Berlin."), start=1):
        say(client, content, day=day)
    assert Memory.objects.filter(predicate="lives_in").count() == 1
