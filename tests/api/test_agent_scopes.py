"""Agent, application and run of requests, over the API: who told a memory, with which metadata."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix, end_user_id, parse
from apps.projects.services import change_policy
from apps.tenants.models import Project
from apps.traces.drafts import load_session_draft
from tests.api.storing import LISBON, put, say
from tests.conftest import MakeClient

A1 = {"agent_id": "a1", "app_id": "shop", "run_id": "r1"}
A2 = {"agent_id": "a2", "app_id": "shop", "run_id": "r2"}


def found(client: APIClient, **filters: Any) -> list[str]:
    answer = client.post("/v1/memories/search", {"user_id": "ana", "query": "", **filters})
    assert answer.status_code == 200, answer.content
    return [memory["content"] for memory in answer.json()["results"]]


def test_a_turn_names_who_told_a_memory(client: APIClient) -> None:
    told = say(client, "I live in Lisbon.", metadata={"ticket": 1}, **A1)

    memory = client.get(f"/v1/memories/{told['memory_ids'][0]}").json()
    trace = client.get(f"/v1/traces/{told['trace_id']}").json()
    for answer in (memory, trace):
        assert {name: answer[name] for name in A1} == A1
    assert (memory["private_to"], memory["further_sources"]) == (None, [])


def test_metadata_of_two_sources_stay_apart(client: APIClient) -> None:
    (first,) = say(client, "I live in Lisbon.", metadata={"ticket": 1}, **A1)["memory_ids"]
    (second,) = say(client, "I live in Lisbon.", session="other", metadata={"order": 2}, **A2)["memory_ids"]

    memory = client.get(f"/v1/memories/{first}").json()
    assert first == second
    assert (memory["agent_id"], memory["metadata"]) == ("a1", {"ticket": 1})
    assert memory["further_sources"] == [{**A2, "metadata": {"order": 2}}]
    assert found(client, metadata={"ticket": 1}) == found(client, agent_id="a2", metadata={"order": 2}) != []
    assert found(client, metadata={"ticket": 1, "order": 2}) == []
    assert found(client, agent_id="a2", metadata={"ticket": 1}) == []


def test_a_direct_store_of_something_known_adds_its_source_once(client: APIClient) -> None:
    (known,) = put(client, {**LISBON, **A1})
    for _ in range(2):
        (repeated,) = put(client, {**LISBON, **A2, "metadata": {"order": 2}})

    assert repeated["id"] == known["id"]
    assert repeated["further_sources"] == [{**A2, "metadata": {"order": 2}}]
    assert found(client, agent_id="a2") == [LISBON["content"]]


@pytest.mark.parametrize(
    ("scope", "count"),
    [
        ({"agent_id": "a1"}, 1),
        ({"app_id": "shop"}, 1),
        ({"run_id": "r2"}, 1),
        ({"agent_id": "a1", "run_id": "r2"}, 0),
        ({"agent_id": "a3"}, 0),
    ],
)
def test_search_context_and_list_select_what_one_source_told(
    client: APIClient, scope: dict[str, str], count: int
) -> None:
    put(client, {**LISBON, **A1})
    put(client, {**LISBON, **A2})

    assert len(found(client, **scope)) == count
    block = client.post("/v1/context", {"user_id": "ana", "query": "", **scope}).json()
    assert len(block["memory_ids"]) == count
    listed = client.get("/v1/memories", {"user_id": "ana", **scope}).json()["results"]
    assert len(listed) == count


def test_a_list_by_session(client: APIClient) -> None:
    say(client, "I live in Lisbon.")
    put(client, {"type": "fact", "content": "Ana has a boat.", "session_id": "boats"})

    listed = client.get("/v1/memories", {"user_id": "ana", "session_id": "boats"}).json()["results"]
    assert [each["content"] for each in listed] == ["Ana has a boat."]


def test_private_memories_may_say_the_same_and_are_searched_again_after_a_change(
    client: APIClient, project: Project
) -> None:
    change_policy(project_id=project.pk, base=1, changes={("sharing", "memory_sharing"): "by_agent"})
    one, two, three = put(client, {**LISBON, **A1}, {**LISBON, **A2}, LISBON)

    assert len({one["id"], two["id"], three["id"]}) == 3
    assert [each["private_to"] for each in (one, two, three)] == ["a1", "a2", None]
    for _ in range(3):  # the second search caches
        assert found(client, agent_id="a1") == [LISBON["content"]]
    put(client, {"type": "fact", "content": "Ana has a home.", **A1}, {"type": "fact", "content": "A home.", **A2})
    assert sorted(found(client, agent_id="a1")) == ["Ana has a home.", LISBON["content"]]
    assert found(client) == [LISBON["content"]]


def test_a_rollback_takes_back_the_source_of_its_trace(
    client: APIClient, client_of: MakeClient, project: Project
) -> None:
    first = say(client, "I live in Lisbon.", metadata={"ticket": 1}, **A1)
    say(client, "I live in Lisbon.", session="other", metadata={"order": 2}, **A2)
    selection = {"trace_ids": [first["trace_id"]]}
    rolled = client_of(project, Scope.ADMIN).post("/v1/rollbacks", {"selection": selection, "dry_run": False})

    assert rolled.status_code == 201, rolled.content
    assert found(client, agent_id="a1") == found(client, metadata={"ticket": 1}) == []
    assert found(client, agent_id="a2", metadata={"order": 2}) == ["User lives in Lisbon."]


def test_what_a_session_of_one_agent_repeats_stays_private_at_its_end(client: APIClient, project: Project) -> None:
    change_policy(project_id=project.pk, base=1, changes={("sharing", "memory_sharing"): "by_agent"})
    told = say(client, "I live in Lisbon.", **A1)
    draft = load_session_draft(
        end_user_id=end_user_id(project_id=project.pk, user_id="ana"), trace_id=parse(Prefix.TRACE, told["trace_id"])
    )
    say(client, "I play the cello.", **A2)
    later = load_session_draft(end_user_id=draft.request.origin.end_user_id, trace_id=draft.request.trace_id)

    assert draft.private_to == "a1"
    assert [turn.content for turn in later.turns] == ["I live in Lisbon."]
