"""From turns and stored memories to the responses of /v1/context and /v1/memories/search."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.memories.models import Memory, MemoryLink
from apps.pipeline.core.enums import LinkKind
from apps.providers.wordllama import count_tokens
from tests.api.storing import say

GUEST = {
    "type": "fact",
    "content": "Jonas has coeliac disease.",
    "subject": "Jonas",
    "predicate": "has_condition",
    "object": {"literal": "coeliac disease"},
}


def store(client: APIClient, *memories: dict[str, Any]) -> list[str]:
    body = {"user_id": "ana", "memories": [{"said_at": "2026-03-02T09:00:00Z", **each} for each in memories]}
    answer = client.post("/v1/memories", body)
    assert answer.status_code == 201, answer.content
    return [each["id"] for each in answer.json()["results"]]


def context(client: APIClient, query: str = "", **more: Any) -> dict[str, Any]:
    answer = client.post("/v1/context", {"user_id": "ana", "query": query, **more})
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    return body


def search(client: APIClient, query: str, **more: Any) -> list[dict[str, Any]]:
    answer = client.post("/v1/memories/search", {"user_id": "ana", "query": query, **more})
    assert answer.status_code == 200, answer.content
    results: list[dict[str, Any]] = answer.json()["results"]
    return results


def test_what_was_said_is_shown_in_plain_sentences(client: APIClient) -> None:
    say(client, "I live in Lisbon and I work as a nurse.")

    shown = context(client)["context"]

    assert "- Lives in Lisbon.\n" in shown
    assert "- Works as a nurse.\n" in shown
    assert search(client, "Which city is Lisbon?", min_score=0.1)[0]["content"] == "User lives in Lisbon."


def test_a_sentence_keeps_what_a_triple_loses(trusted: APIClient) -> None:
    content = "Audrey takes her dogs on road trips once every couple of months."
    triple = {"subject": "Audrey", "predicate": "takes_on_road_trips", "object": {"literal": "Audrey's dogs"}}
    store(trusted, {"type": "fact", "content": content, **triple})
    assert f"- {content}\n" in context(trusted)["context"]


@pytest.mark.parametrize("query", ["", "Is Jonas allowed to eat gluten with his disease?", "xqzt blorf"])
def test_the_budget_is_never_exceeded_and_more_is_never_worse(client: APIClient, query: str) -> None:
    facts = [
        {"type": "fact", "content": f"User keeps {n} hens behind house {n}.", "importance": 0.9} for n in range(40)
    ]
    store(client, GUEST, {**GUEST, "content": "No nuts for Jonas.", "tags": ["constraint"], "object": None}, *facts)
    before: list[str] = []
    for budget in (20, 60, 102, 250, 400, 1_000):
        block = context(client, query, token_budget=budget)
        assert count_tokens(block["context"]) == block["tokens"] <= budget
        assert block["memory_ids"][: len(before)] == before
        before = block["memory_ids"]


def test_what_is_asked_for_comes_before_important_facts(client: APIClient) -> None:
    facts = [
        {"type": "fact", "content": f"User keeps {n} hens behind house {n}.", "importance": 0.9} for n in range(40)
    ]
    (guest, *_) = store(client, {**GUEST, "importance": 0.2}, *facts)
    assert context(client, "a cake for Jonas, who has a disease", token_budget=100)["memory_ids"][0] == guest


def test_gibberish_finds_nothing(client: APIClient) -> None:
    say(client, "I live in Lisbon and I work as a nurse.")
    assert search(client, "xqzt blorf wug", min_score=0.1) == []
    assert "Relevant memories:" not in context(client, "xqzt blorf wug")["context"]


def test_a_dispute_is_visible_to_agents(trusted: APIClient) -> None:
    old, new = store(
        trusted,
        {"type": "fact", "content": "Lena is vegan.", "subject": "Lena"},
        {
            "type": "fact",
            "content": "Lena ate a steak on Friday.",
            "subject": "Lena",
            "said_at": "2026-03-09T09:00:00Z",
        },
    )
    by_id = {each.shown_id: each for each in Memory.objects.all()}
    MemoryLink.objects.create(
        end_user_id=by_id[old].end_user_id,
        project_id=by_id[old].project_id,
        from_memory=by_id[new],
        to_memory=by_id[old],
        kind=LinkKind.CONTRADICTS,
    )

    found = {each["id"]: (each["disputed"], each["contradicted_by"]) for each in search(trusted, "Lena")}

    assert found == {old: (True, [new]), new: (True, [old])}
    assert (
        "- disputed: Lena ate a steak on Friday. (said 9 March 2026); also said: Lena is vegan. (said 2 March 2026)"
        in context(trusted)["context"]
    )


def test_polarity_and_doubt_are_part_of_a_result(trusted: APIClient) -> None:
    denied = {"type": "preference", "content": "User does not drink coffee.", "polarity": "negative"}
    guess = {"type": "fact", "content": "User may drink tea.", "status": "pending_review", "confidence": 0.3}
    store(trusted, denied, guess)
    found = {each["content"]: each for each in search(trusted, "drink coffee tea", stakes="low", fields=["polarity"])}
    assert found[denied["content"]]["polarity"] == "negative"
    assert found[guess["content"]]["unverified"]
    assert "- May drink tea. (unconfirmed)" in context(trusted, stakes="low")["context"]


@pytest.mark.parametrize("stakes", ["high", "normal", "low"])
def test_search_and_context_filter_by_the_same_confidence(trusted: APIClient, stakes: str) -> None:
    sure = [0.9, 0.6, 0.41, 0.3]
    store(trusted, *({"type": "fact", "content": f"User owns boat {n}.", "confidence": n} for n in sure))
    Memory.objects.update(status="active")
    found = {each["id"] for each in search(trusted, "boat", stakes=stakes)}
    assert found == set(context(trusted, stakes=stakes)["memory_ids"])
    assert len(found) == {"high": 1, "normal": 3, "low": 4}[stakes]
