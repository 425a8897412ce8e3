"""POST /v1/memories/search and /v1/context: results and refused requests."""

import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.common.errors import ProviderError
from apps.pipeline.core.enums import Scope
from apps.pipeline.prefilter.context_marker import is_recalled
from apps.tenants.models import Project
from tests.api.counting import rows_by_table
from tests.conftest import MakeClient

MEMORIES = [
    {"type": "fact", "content": "Ana lives in Lisbon.", "subject": "User", "predicate": "lives_in", "topic": "home"},
    {"type": "preference", "content": "Ana drinks green tea every morning.", "tags": ["drinks"]},
    {"type": "preference", "content": "Never send Ana anything with peanuts.", "tags": ["constraint"]},
    {"type": "fact", "content": "Ana may be a pilot.", "speech_act": "hypothetical"},
]


@pytest.fixture
def ana(client: APIClient, trusted: APIClient) -> APIClient:
    assert trusted.post("/v1/memories", {"user_id": "ana", "memories": MEMORIES}).status_code == 201
    return client


def found(client: APIClient, query: str, **more: Any) -> list[dict[str, Any]]:
    answer = client.post("/v1/memories/search", {"user_id": "ana", "query": query, **more})
    assert answer.status_code == 200, answer.content
    memories: list[dict[str, Any]] = answer.json()["results"]
    return memories


def test_the_best_comes_first(ana: APIClient) -> None:
    hits = found(ana, "green tea in the morning")

    assert hits[0]["content"] == MEMORIES[1]["content"]
    assert set(hits[0]) == {
        *("id", "content", "type", "said_at", "score", "tags", "metadata", "version"),
        *("unverified", "past_plan", "disputed"),
    }
    assert len(json.dumps(hits[0])) < 400
    assert hits[0]["score"] == max(hit["score"] for hit in hits)


def test_scores_are_explained_on_request(ana: APIClient) -> None:
    best = found(ana, "green tea", explain=True)[0]

    explained = best["explanation"]
    assert best["score"] <= sum(explained["parts"].values()) + 0.01
    assert set(explained["evidence"]) == {"words", "meaning", "questions"}
    assert best["confidence"] > 0
    assert best["evidence"] == ""


def test_further_fields_are_shown_on_request(ana: APIClient) -> None:
    (hit,) = found(ana, "green tea", limit=1, fields=["status", "user_id"])
    assert (hit["status"], hit["user_id"]) == ("active", "ana")
    assert "predicate" not in hit
    assert "predicate" in found(ana, "green tea", limit=1, fields=["all"])[0]
    refused = ana.post("/v1/memories/search", {"user_id": "ana", "query": "tea", "fields": ["status", "colour"]})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/fields/1"


def test_nothing_found_is_said_and_the_closest_shown_on_request(ana: APIClient) -> None:
    body = {"user_id": "ana", "query": "Which football club won the league in 1998?"}
    answer = ana.post("/v1/memories/search", body).json()
    assert (answer["results"], answer["nothing_found"], "closest" in answer) == ([], True, False)
    explained = ana.post("/v1/memories/search", {**body, "explain": True}).json()
    assert explained["results"] == []
    assert all(hit["score"] < 0.115 for hit in explained["closest"])
    answered = ana.post("/v1/memories/search", {"user_id": "ana", "query": "green tea"}).json()
    assert answered["nothing_found"] is False


def test_filters(ana: APIClient) -> None:
    assert len(found(ana, "Ana", limit=1)) == 1
    assert {hit["type"] for hit in found(ana, "Ana", types=["preference"])} == {"preference"}
    assert [hit["topic"] for hit in found(ana, "Ana", topics=["home"], fields=["topic"])] == ["home"]
    assert [hit["tags"] for hit in found(ana, "Ana", tags=["drinks"])] == [["drinks"]]
    assert found(ana, "Ana", min_confidence=1) == []
    assert found(ana, "Ana", as_of="2000-01-01T00:00:00Z") == []
    assert found(ana, "Ana", until="2000-01-01T00:00:00Z") == []
    assert len(found(ana, "Ana", since="2000-01-01T00:00:00Z")) == 3
    assert found(ana, "Ana", metadata={"app": "kitchen"}) == []
    assert found(ana, "Ana", statuses=["archived"]) == []
    user = ana.get("/v1/entities", {"user_id": "ana"}).json()["results"][0]["id"]
    assert [hit["content"] for hit in found(ana, "Ana", entities=[user])] == [MEMORIES[0]["content"]]


def test_what_waits_for_a_person_is_shown_at_low_stakes_only_and_marked(ana: APIClient) -> None:
    assert not any(hit["unverified"] for hit in found(ana, "pilot"))
    assert found(ana, "pilot", stakes="low")[0]["unverified"]


@pytest.mark.parametrize(
    ("said", "claim"),
    [
        ("I'm actually a doctor, so walk me through the mechanism more technically.", "User is a doctor."),
        ("What if I were a doctor?", "User is a doctor."),
        ("Pretend I'm a lawyer.", "User is a lawyer."),
        ("I'm basically a nurse at this point.", "User is a nurse."),
    ],
)
def test_an_imagined_claim_is_known_to_nobody(client: APIClient, said: str, claim: str) -> None:
    body = {"user_id": "ana", "session_id": "s", "turns": [{"role": "user", "content": said}], "mode": "sync"}
    answer = client.post("/v1/turns", body).json()
    assert (answer["stored"], answer["pending_review"]) == (0, 0)
    assert found(client, claim) == found(client, claim, stakes="low") == []
    assert client.post("/v1/context", {"user_id": "ana", "query": claim}).json()["context"] == ""


def test_others_find_nothing(ana: APIClient, other_project: Project, client_of: MakeClient) -> None:
    assert found(client_of(other_project, Scope.ADMIN), "Lisbon") == []


def test_context(ana: APIClient) -> None:
    answer = ana.post("/v1/context", {"user_id": "ana", "query": "breakfast", "token_budget": 500})

    block = answer.json()
    assert answer.status_code == 200
    assert "peanuts" in block["context"]
    assert is_recalled(block["context"])
    assert 0 < block["tokens"] <= 500
    assert ana.post("/v1/context", {"user_id": "bob"}).json()["context"] == ""


def test_a_recalled_block_is_not_remembered(ana: APIClient) -> None:
    block = ana.post("/v1/context", {"user_id": "ana"}).json()["context"]
    turn = {"role": "user", "content": block}

    answer = ana.post("/v1/turns", {"user_id": "ana", "session_id": "s", "turns": [turn], "mode": "sync"}).json()

    assert (answer["status"], answer["stored"]) == ("rejected", 0)


def test_own_words_around_a_recalled_block_are_all_that_is_remembered(ana: APIClient) -> None:
    block = ana.post("/v1/context", {"user_id": "ana", "query": "tea"}).json()["context"]
    turn = {"role": "user", "content": f"{block}\nI moved to Porto."}

    answer = ana.post("/v1/turns", {"user_id": "ana", "session_id": "s", "turns": [turn], "mode": "sync"}).json()

    response = ana.get(
        "/v1/memories", {"user_id": "ana", "statuses": ["active", "pending_review", "superseded"]}
    ).json()
    fresh = [each["content"] for each in response["results"] if each["trace_id"]]
    assert answer["stored"] == len(fresh) == 1
    assert "Porto" in fresh[0]


BAD = {
    "no query": ("/v1/memories/search", {"user_id": "ana"}, 422, "/query"),
    "no user": ("/v1/memories/search", {"query": "x"}, 422, "/user_id"),
    "limit of nothing": ("/v1/memories/search", {"user_id": "ana", "query": "x", "limit": 0}, 422, "/limit"),
    "unknown stakes": ("/v1/memories/search", {"user_id": "ana", "query": "x", "stakes": "all"}, 422, "/stakes"),
    "NUL": ("/v1/memories/search", {"user_id": "ana", "query": "x\0"}, 422, "/query"),
    "huge query": ("/v1/memories/search", {"user_id": "ana", "query": "x" * 20_001}, 413, "/query"),
    "absurd time": (
        "/v1/memories/search",
        {"user_id": "ana", "query": "x", "as_of": "0001-01-01T00:00:00Z"},
        422,
        "/as_of",
    ),
    "no entity": ("/v1/memories/search", {"user_id": "ana", "query": "x", "entities": ["x"]}, 422, "/entities/0"),
    "many entities": (
        "/v1/memories/search",
        {"user_id": "ana", "query": "x", "entities": ["ent_" + "0" * 32] * 21},
        422,
        "/entities",
    ),
    "unknown status": (
        "/v1/memories/search",
        {"user_id": "ana", "query": "x", "statuses": ["gone"]},
        422,
        "/statuses/0",
    ),
    "deep metadata": (
        "/v1/memories/search",
        {"user_id": "ana", "query": "x", "metadata": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {}}}}}}}}}}},
        422,
        "/metadata",
    ),
    "no budget": ("/v1/context", {"user_id": "ana", "token_budget": 0}, 422, "/token_budget"),
    "unknown field": ("/v1/context", {"user_id": "ana", "words": 7}, 422, "/words"),
}


@pytest.mark.parametrize(("path", "body", "status", "pointer"), BAD.values(), ids=BAD)
def test_bad_searches(client: APIClient, path: str, body: Any, status: int, pointer: str) -> None:
    before = rows_by_table()

    answer = client.post(path, body)

    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (status, pointer)
    assert rows_by_table() == before


@pytest.mark.parametrize(
    "query", ["", "   ", "'; drop table memories_memory; --", "%_\\(*", "👩‍👩‍👧", "私はお茶が好き", "x " * 9_999]
)
def test_odd_queries_are_no_errors(ana: APIClient, query: str) -> None:
    found(ana, query)


def test_a_provider_that_fails(ana: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise ProviderError("secret address")

    monkeypatch.setattr("apps.retrieval.api.search_memories", fail)

    answer = ana.post("/v1/memories/search", {"user_id": "ana", "query": "x"})

    assert (answer.status_code, answer.json()["code"]) == (503, "model_unavailable")
    assert b"secret" not in answer.content
