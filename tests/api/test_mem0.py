"""The addresses that mem0's client calls, with the bodies that it sends."""

from typing import Any

from rest_framework.test import APIClient

from apps.pipeline.core.enums import Scope
from apps.tenants.models import Project
from tests.conftest import MakeClient

SAID = [{"role": "user", "content": "I live in Porto and I play the cello."}, {"role": "assistant", "content": "Nice."}]
OF_KIM = {"filters": {"user_id": "kim"}}


def test_memories_are_added_found_changed_and_deleted(client: APIClient) -> None:
    assert client.get("/v1/ping/?x=1").json()["project_id"].startswith("prj_")
    told = {"messages": SAID, "user_id": "kim", "run_id": "r1", "metadata": {"from": "chat"}, "custom_categories": None}
    added = client.post("/v3/memories/add/", told).json()
    assert added["status"] == "PENDING"
    assert client.get(f"/v1/event/{added['event_id']}/").json()["status"] == "PENDING"
    facts = [{"role": "user", "content": "Kim likes tea."}, {"role": "user", "content": "Kim has a canary."}]
    stored = client.post("/v3/memories/add/", {"messages": facts, **OF_KIM, "infer": False, "agent_id": "a1"}).json()
    assert [each["event"] for each in stored["results"]] == ["ADD", "ADD"]
    wanted = {
        "query": "What does Kim drink? tea",
        "filters": {"AND": [{"user_id": "kim"}, {"run_id": "*"}]},
        "top_k": 1,
    }
    (hit,) = client.post("/v3/memories/search/", wanted).json()["results"]
    assert (hit["memory"], hit["user_id"], hit["agent_id"], hit["score"] > 0) == ("Kim likes tea.", "kim", "a1", True)
    address = f"/v1/memories/{hit['id']}/"
    changed = client.put(address, {"text": "Kim likes green tea.", "metadata": {"sure": True}}).json()
    assert (changed["memory"], changed["metadata"]) == ("Kim likes green tea.", {"sure": True})
    assert client.put(address, {"expiration_date": "2100-01-01"}).json()["expiration_date"][:13] == "2100-01-01T23"
    assert client.put(address, {"expiration_date": None}).json()["expiration_date"] is None
    listed = client.post("/v3/memories/?page=1&page_size=1", OF_KIM).json()
    assert (listed["count"], len(listed["results"]), listed["previous"]) == (2, 1, None)
    assert listed["next"] == "/v3/memories/?page=2&page_size=1"
    sure = client.post("/v3/memories/", {"filters": {"user_id": "kim", "metadata": {"sure": True}}}).json()["results"]
    assert [each["id"] for each in sure] == [hit["id"]]
    assert "message" in client.delete(address).json()
    history: Any = client.get(f"{address}history/").json()
    assert [each["event"] for each in history] == ["ADD", "UPDATE", "UPDATE", "UPDATE", "DELETE"]
    green = ["Kim likes green tea."] * 3
    assert [each["new_memory"] for each in history] == ["Kim likes tea.", *green, None]
    assert client.get(address).status_code == 404
    assert "message" in client.delete("/v1/memories/?user_id=kim&agent_id=a1").json()
    assert client.post("/v3/memories/", OF_KIM).json()["count"] == 0


def test_refusals_are_json_that_the_client_reads(client: APIClient, client_of: MakeClient, project: Project) -> None:
    cases = [
        ("/v3/memories/add/", {"messages": SAID}, 422),
        ("/v3/memories/add/", {"messages": [], "user_id": "kim"}, 422),
        ("/v3/memories/add/", {"messages": SAID, "user_id": "k\nm"}, 422),
        ("/v3/memories/search/", {"query": "x", "filters": {"user_id": ["kim"]}}, 422),
        ("/v3/memories/search/", {"query": "x", "filters": {"user_id": "kim", "AND": ["x"]}}, 422),
        ("/v3/memories/search/", {"query": "x", "filters": {"user_id": "kim", "AND": 5}}, 422),
        ("/v3/memories/search/", {"query": "x", "filters": {"user_id": "kim", "OR": [{"agent_id": "b"}]}}, 200),
        ("/v3/memories/search/", {"query": "x", "user_id": "kim", "agent_id": {"in": ["a"]}}, 422),
        ("/v3/memories/search/", {"query": "x", "user_id": "kim", "filters": {"agent_id": {"in": ["a"]}}}, 200),
        ("/v3/memories/?page=0", {"user_id": "kim"}, 422),
        ("/v3/memories/?page_size=x", {"user_id": "kim"}, 422),
    ]
    for address, body, status in cases:
        answer = client.post(address, body)
        assert (answer.status_code, answer["Content-Type"]) == (status, "application/json"), (body, answer.content)
        assert status == 200 or answer.json()["detail"]
    assert APIClient().get("/v1/ping/").status_code == 401
    assert client.delete("/v1/memories/").status_code == 422
    assert client.get("/v1/entities/").status_code == 403
    client.post("/v3/memories/add/", {"messages": SAID, "user_id": "kim"})
    admin = client_of(project, Scope.ADMIN)
    assert [each["name"] for each in admin.get("/v1/entities/").json()["results"]] == ["kim"]
