"""The filter language: a search and a list find the same, and what is refused is named."""

import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.api.storing import put

TEA = {
    "type": "preference",
    "content": "Ana likes tea.",
    "topic": "Food",
    "tags": ["taste", "goal"],
    "metadata": {"size": 2, "shop": "North Gate", "kinds": ["green", "black"], "new": True, "day": "2026-03-01"},
    "said_at": "2026-03-01T12:00:00Z",
    "session_id": "one",
    "agent_id": "a1",
    "run_id": "r1",
    "confidence": 0.9,
}
BOAT = {
    "type": "fact",
    "content": "Ana has a boat.",
    "topic": "Sea",
    "metadata": {"size": 10},
    "said_at": "2026-04-01T12:00:00Z",
    "session_id": "two",
    "agent_id": "a2",
    "app_id": "shop",
    "confidence": 0.6,
}
OLD = {
    "type": "fact",
    "content": "Ana has a canoe.",
    "status": "superseded",
    "said_at": "2025-01-01T12:00:00Z",
    "valid_until": "2025-06-01T00:00:00Z",
    "confidence": 0.7,
}
NAMES = {TEA["content"]: "tea", BOAT["content"]: "boat", OLD["content"]: "old"}
FOUND: list[tuple[dict[str, Any], str]] = [
    ({"topic": "Food"}, "tea"),
    ({"topic": {"contains": "oo"}}, "tea"),
    ({"topic": {"contains": "OO"}}, ""),
    ({"topic": {"icontains": "OO"}}, "tea"),
    ({"topic": {"ne": "Food"}}, "boat"),
    ({"type": {"in": ["fact", "event"]}}, "boat"),
    ({"tags": "goal"}, "tea"),
    ({"tags": {"in": ["goal", "other"]}}, "tea"),
    ({"NOT": {"tags": "goal"}}, "boat"),
    ({"NOT": [{"tags": "goal"}, {"topic": "Sea"}]}, ""),
    ({"session_id": "one"}, "tea"),
    ({"session_id": {"contains": "o"}}, "boat tea"),
    ({"agent_id": "a1"}, "tea"),
    ({"agent_id": {"ne": "a1"}}, "boat"),
    ({"agent_id": {"in": ["a1", "a2"]}}, "boat tea"),
    ({"AND": [{"agent_id": "a1"}, {"run_id": "r1"}]}, "tea"),
    ({"AND": [{"agent_id": "a2"}, {"run_id": "r1"}]}, ""),
    ({"OR": [{"run_id": "r1"}, {"app_id": "shop"}]}, "boat tea"),
    ({"metadata": {"size": 2}}, "tea"),
    ({"metadata.size": {"gt": 2}}, "boat"),
    ({"metadata.size": {"gte": 2, "lt": 10}}, "tea"),
    ({"metadata.size": {"gt": "2"}}, ""),
    ({"metadata.new": True}, "tea"),
    ({"metadata.kinds": "green"}, "tea"),
    ({"metadata.kinds": {"contains": "black"}}, "tea"),
    ({"metadata.kinds": {"in": ["white", "green"]}}, "tea"),
    ({"metadata.shop": {"contains": "Gate"}}, "tea"),
    ({"metadata.shop": {"icontains": "gate"}}, "tea"),
    ({"metadata.shop": {"ne": "North Gate"}}, "boat"),
    ({"metadata.day": {"lte": "2026-03-01"}}, "tea"),
    ({"said_at": "2026-03-01"}, "tea"),
    ({"said_at": {"gt": "2026-03-01"}}, "boat"),
    ({"created_at": {"gte": "2026-03-01", "lt": "2400-01-01"}}, "boat tea"),
    ({"valid_until": {"gt": "2025-01-01"}}, ""),
    ({"NOT": {"valid_until": {"gt": "2025-01-01"}}}, "boat tea"),
    ({"confidence": {"gt": 0.8}}, "tea"),
    ({"confidence": {"in": [0.6, 0.7]}}, "boat"),
    ({"status": "superseded"}, "old"),
    ({"status": {"in": ["active", "superseded"]}, "said_at": {"lt": "2026-03-15"}}, "old tea"),
]


def test_a_search_and_a_list_find_the_same(trusted: APIClient) -> None:
    put(trusted, TEA, BOAT, OLD)

    for given, expected in FOUND:
        body = {"user_id": "ana", "query": "", "filter": given}
        answers = (
            trusted.post("/v1/memories/search", body),
            trusted.get("/v1/memories", {"user_id": "ana", "filter": json.dumps(given)}),
        )
        for answer in answers:
            assert answer.status_code == 200, (given, answer.content)
            found = sorted(NAMES[each["content"]] for each in answer.json()["results"])
            assert found == expected.split(), given


def test_what_two_sources_told_does_not_meet_conditions_on_one(trusted: APIClient) -> None:
    put(trusted, {**TEA, "metadata": {"order": 1}})
    put(trusted, {**TEA, "agent_id": "a2", "metadata": {"order": 2}})

    for given, count in (
        ({"agent_id": "a2", "metadata": {"order": 2}}, 1),
        ({"agent_id": "a2", "metadata.order": 1}, 0),
    ):
        body = {"user_id": "ana", "query": "", "filter": given}
        assert len(trusted.post("/v1/memories/search", body).json()["results"]) == count


@pytest.mark.parametrize("text", ["{", "[]", '{"AND": [{"colour": 1}]}', "null"])
def test_a_list_names_its_parameter(client: APIClient, text: str) -> None:
    answer = client.get("/v1/memories", {"user_id": "ana", "filter": text})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["parameter"] == "filter"


def test_a_search_points_at_what_is_wrong(client: APIClient) -> None:
    body = {"user_id": "ana", "query": "", "filter": {"AND": [{"topic": {"like": "x"}}]}}
    answer = client.post("/v1/memories/search", body)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/filter/AND/0/topic/like"
