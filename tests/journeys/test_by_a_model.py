"""Worked examples of extraction by a model, over HTTP: what is kept, what is left out and why.

The model on loopback answers as a careful model would.
"""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.pipeline.core.enums import Scope
from apps.tenants.models import Project
from benchmarks.model_server import ModelServer, Reply
from benchmarks.model_wire import Asked
from tests.conftest import MakeClient
from tests.pipeline.answers import listing, memory, new_turns
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db

PLAN = "I'm thinking about joining Arrive."
OVER = "My interview at Arrive is behind me! In Stockholm they look for someone who is good at Java and React."
LEAD = "If I join, Priya would be my manager. She seems lovely."
CLAIM = "I'm actually a doctor, so explain the mechanism in more depth."

INTERVIEW = "My interview at Arrive is behind me!"


OF_PLAN = [
    {
        "content": "Georgian is considering joining Arrive.",
        "evidence": PLAN,
        "predicate": "considers_joining",
        "value": "Arrive",
    }
]
OF_OVER = [
    {
        "content": "Georgian completed an interview with Arrive Stockholm.",
        "evidence": INTERVIEW,
        "type": "event",
        "predicate": "completed_interview",
        "object": {"entity": "Arrive Stockholm", "entity_type": "organisation"},
        "event_at": "2026-05-09",
    },
    {
        "content": "Arrive Stockholm requires skills in Java and React.",
        "evidence": "In Stockholm they look for someone who is good at Java and React.",
        "subject": "Arrive Stockholm",
        "subject_type": "organisation",
        "predicate": "requires_skills",
        "object": {"list": ["Java", "React"]},
    },
]
OF_LEAD = [
    {
        "content": "Priya is a person.",
        "evidence": "Priya would be my manager",
        "type": "entity",
        "subject": "Priya",
        "subject_type": "person",
        "predicate": "is_person",
        "value": "Priya",
    },
    {
        "content": "Priya would be Georgian's manager if Georgian joins Arrive.",
        "evidence": "If I join, Priya would be my manager.",
        "type": "relation",
        "subject": "Priya",
        "subject_type": "person",
        "predicate": "potential_manager_of",
        "object": {"entity": "user"},
        "source_confidence": "speculated",
    },
]
OF_CLAIM = [
    {
        "content": "User is a doctor.",
        "evidence": "I'm actually a doctor",
        "predicate": "works_as",
        "value": "doctor",
        "importance": 0.8,
    }
]


def answer(asked: Asked) -> Reply:
    """Say of each new turn what a careful model would say of it."""
    turns = {text: name for name, text in new_turns(asked).items()}
    return Reply(text=listing(*(each for text, name in turns.items() for each in said_of(text, name))))


def said_of(text: str, turn: str) -> list[dict[str, Any]]:
    given = {PLAN: OF_PLAN, OVER: OF_OVER, LEAD: OF_LEAD}.get(text, OF_CLAIM)
    return [memory(**each, turn=turn) for each in given]


@pytest.fixture
def api(client_of: MakeClient, project: Project) -> APIClient:
    return client_of(project, Scope.READ, Scope.WRITE)


@pytest.fixture
def model(model_server: ModelServer) -> ModelServer:
    model_server.answering = answer
    return model_server


def say(api: APIClient, project: Project, *texts: str, user: str, speaker: str = "") -> dict[str, Any]:
    """Post the turns of one request, and return its trace once it has ended."""
    named = {"speaker": speaker} if speaker else {}
    turns = [{"role": "user", "content": text, **named} for text in texts]
    accepted = api.post("/v1/turns", {"user_id": user, "session_id": "one", "turns": turns, "mode": "sync"}).json()
    Person(project, user).is_worked_for()
    return api.get(f"/v1/traces/{accepted['trace_id']}").json()  # type: ignore[no-any-return]


def memories_of(api: APIClient, **wanted: Any) -> list[dict[str, Any]]:
    return api.get("/v1/memories", wanted).json()["results"]  # type: ignore[no-any-return]


def test_of_two_turns_about_an_interview_four_statements_are_kept(
    api: APIClient, project: Project, model: ModelServer
) -> None:
    say(api, project, PLAN, user="georgian", speaker="Georgian")
    trace = say(api, project, OVER, LEAD, user="georgian", speaker="Georgian")

    assert trace["status"] == "done"
    assert [call["purpose"] for call in trace["model_calls"]].count("extract") == 1
    assert any("Georgian is considering joining Arrive." in asked.context for asked in model.asked)
    memories = [api.get(f"/v1/memories/{memory_id}").json() for memory_id in trace["counts"]["memory_ids"]]
    assert [(each["type"], each["predicate"], each["confidence"], each["status"]) for each in memories] == [
        ("event", "completed_interview", 0.8125, "active"),
        ("fact", "requires_skills", 0.8125, "active"),
        ("entity", "is_person", 0.8125, "active"),
        ("relation", "potential_manager_of", 0.3925, "pending_review"),
    ]
    assert [each["subject"]["name"] for each in memories] == ["Georgian", "Arrive Stockholm", "Priya", "Priya"]
    assert len(memories_of(api, user_id="georgian")) == 4  # with the plan, without what waits


@pytest.mark.usefixtures("model")
def test_a_claimed_role_is_unknown_until_a_person_approves_it(api: APIClient, project: Project) -> None:
    trace = say(api, project, CLAIM, user="asker")
    (memory_id,) = trace["counts"]["memory_ids"]

    def found(**more: Any) -> list[str]:
        asked = {"user_id": "asker", "query": "Is the user a doctor?", "limit": 10, **more}
        return [each["id"] for each in api.post("/v1/memories/search", asked).json()["results"]]

    stored = api.get(f"/v1/memories/{memory_id}").json()
    assert (stored["confidence"] <= 0.30, stored["status"]) == (True, "pending_review")
    assert found() == found(stakes="high") == []
    assert api.post("/v1/context", {"user_id": "asker", "query": "lab results"}).json()["memory_ids"] == []
    (waiting,) = memories_of(api, user_id="asker", statuses="pending_review")
    assert waiting["id"] == memory_id
    assert found(stakes="low") == [memory_id]
