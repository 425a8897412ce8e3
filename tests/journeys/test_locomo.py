"""A conversation of two people goes in over HTTP, through a running server and cluster, and is found again.

An ordinary run takes its first sessions, `make soak` all of them.
LoCoMo is CC BY-NC 4.0: read from beside the checkout, for evaluation only.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from benchmarks.data import find
from benchmarks.locomo_data import Conversation, load
from memplatform.demo.client import Client
from tests.instance import Instance, wait_for
from tests.soak import is_soak

pytestmark = pytest.mark.journey
USER = "locomo"
SESSIONS = 9  # of an ordinary run
ENDED = {"done", "rejected"}


@dataclass(frozen=True)
class Taken:
    """The conversation, its traces and its memories with the turns that say them."""

    conversation: Conversation
    traces: list[dict[str, Any]]
    memories: list[dict[str, Any]]

    @property
    def said_by(self) -> dict[str, set[str]]:
        """Return the turn_ids that each memory comes from."""
        names = {turn["id"]: turn["turn_id"] for trace in self.traces for turn in trace["turns"]}
        return {memory["id"]: {names[origin["turn"]] for origin in memory["origins"]} for memory in self.memories}


@pytest.fixture(scope="module")
def conversation() -> Conversation:
    try:
        conversations = load(find(None, "locomo_dev.json"))
    except FileNotFoundError as absent:
        pytest.skip(str(absent))
    whole = next(each for each in conversations if len(each.turns) > 400)
    return whole if is_soak() else replace(whole, turns=tuple(turn for turn in whole.turns if turn.session <= SESSIONS))


@pytest.fixture(scope="module")
def taken(conversation: Conversation, client: Client, instance: Instance) -> Taken:
    sent = [client.post("/v1/turns", body).json()["trace_id"] for body in bodies(conversation)]
    wait_for(lambda: {trace["status"] for trace in listed(client)} <= ENDED, instance=instance)
    wait_for(
        lambda: all(client.get("/readyz")[name] == 0 for name in ("oldest_queued_seconds", "dead")), instance=instance
    )
    ids = [memory["id"] for memory in client.pages("/v1/memories", user_id=USER, limit=200)]
    return Taken(
        conversation=conversation,
        traces=[client.get(f"/v1/traces/{trace_id}") for trace_id in sent],
        memories=[client.get(f"/v1/memories/{memory_id}") for memory_id in ids],
    )


def bodies(conversation: Conversation) -> Iterator[dict[str, Any]]:
    """Yield one request per session; both people are users, distinguished by `speaker`."""
    for session in sorted({turn.session for turn in conversation.turns}):
        turns = [
            {
                "role": "user",
                "speaker": turn.speaker,
                "content": turn.text,
                "turn_id": turn.id,
                "occurred_at": turn.said_at.isoformat() if turn.said_at else None,
            }
            for turn in conversation.turns
            if turn.session == session
        ]
        yield {"user_id": USER, "session_id": f"session-{session}", "turns": turns}


def listed(client: Client) -> list[dict[str, Any]]:
    return list(client.pages("/v1/traces", user_id=USER, limit=200))


def search(client: Client, query: str) -> list[dict[str, Any]]:
    found = client.post("/v1/memories/search", {"user_id": USER, "query": query, "limit": 10})
    return list(found.json()["results"])


def test_every_turn_is_accounted_for(taken: Taken) -> None:
    turns = [turn for trace in taken.traces for turn in trace["turns"]]
    assert [turn["turn_id"] for turn in turns] == [turn.id for turn in taken.conversation.turns]
    assert {trace["status"] for trace in taken.traces} <= ENDED
    assert any(turn["rejected_for"] for turn in turns)


def test_both_people_are_remembered(taken: Taken) -> None:
    subjects = {memory["subject"]["name"].split()[0] for memory in taken.memories if memory["subject"]}
    assert set(taken.conversation.speakers) <= subjects


def test_each_memory_quotes_the_turn_that_says_it(taken: Taken) -> None:
    text = {turn.id: turn.text for turn in taken.conversation.turns}
    names = {turn["id"]: turn["turn_id"] for trace in taken.traces for turn in trace["turns"]}
    for memory in taken.memories:
        for origin in memory["origins"]:
            said = text[names[origin["turn"]]]
            for part in origin["evidence"].split("…"):  # sentences that stand apart
                assert part.strip() in said


def test_memories_are_found_by_what_they_say(taken: Taken, client: Client) -> None:
    asked = taken.memories[:: max(1, len(taken.memories) // 40)]
    found = [memory["id"] in {hit["id"] for hit in search(client, memory["content"])[:3]} for memory in asked]
    assert sum(found) >= 0.95 * len(found)


def test_questions_find_memories_of_the_turns_that_answer_them(taken: Taken, client: Client) -> None:
    said_by = taken.said_by
    known = set().union(*said_by.values())
    questions = [each for each in taken.conversation.questions if known & set(each.evidence)]
    assert len(questions) >= 30
    hits = [
        any(said_by[hit["id"]] & set(question.evidence) for hit in search(client, question.question))
        for question in questions
    ]
    assert sum(hits) >= 0.7 * len(hits)
