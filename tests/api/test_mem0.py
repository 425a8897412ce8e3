"""The addresses that mem0's client calls, with the bodies that it sends."""

from copy import copy
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from apps.mem0 import views
from apps.memories.models import LedgerEntry, Memory
from apps.memories.services import revising
from apps.pipeline.core.identifiers import new_id
from apps.tenants.models import Project
from tests.soak import is_soak
from tests.worker.worker_helper import Person

SAID = [{"role": "user", "content": "I live in Porto and I play the cello."}, {"role": "assistant", "content": "Nice."}]
OF_KIM = {"filters": {"user_id": "kim"}}
VERY_MANY = 5_000 if is_soak() else 600


def test_memories_are_added_found_changed_and_deleted(client: APIClient, admin: APIClient) -> None:
    assert client.get("/v1/ping/?x=1").json()["project_id"].startswith("prj_")
    told = {"messages": SAID, "user_id": "kim", "run_id": "r1", "metadata": {"from": "chat"}, "custom_categories": None}
    added = client.post("/v3/memories/add/", told).json()
    assert added["status"] == "PENDING"
    assert client.get(f"/v1/traces/{added['event_id']}").json()["status"] == "queued"
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
    assert "message" in admin.delete("/v1/memories/?user_id=kim&agent_id=a1").json()
    assert client.post("/v3/memories/", OF_KIM).json()["count"] == 0


def test_the_history_has_the_metadata_of_each_time(client: APIClient) -> None:
    said = [{"role": "user", "content": "Kim likes tea."}]
    added = client.post("/v3/memories/add/", {"messages": said, **OF_KIM, "infer": False, "metadata": {"a": 1}}).json()
    address = f"/v1/memories/{added['results'][0]['id']}/"
    client.put(address, {"metadata": {"b": 2}})
    client.put(address, {"text": "Kim likes green tea."})
    client.put(address, {"metadata": {}})
    history: Any = client.get(f"{address}history/").json()
    assert [each["metadata"] for each in history] == [{"a": 1}, {"b": 2}, {"b": 2}, {}]


def test_a_past_expiration_takes_trust(client: APIClient, trusted: APIClient) -> None:
    said = [{"role": "user", "content": "Kim likes tea."}]
    body = {"messages": said, **OF_KIM, "infer": False, "expiration_date": "2020-01-01"}
    assert client.post("/v3/memories/add/", body).status_code == 403
    assert trusted.post("/v3/memories/add/", body).status_code == 200


def test_categories_are_topics_in_filters_and_answers(client: APIClient) -> None:
    for content, topic in (("Kim likes tea.", "drinks"), ("Kim runs.", "sport"), ("Kim swims in the sea.", "")):
        told = {"type": "fact", "content": content, "subject": "Kim", "topic": topic}
        assert client.post("/v1/memories", {"user_id": "kim", "memories": [told]}).status_code == 201
    for wanted, expected in (
        ({"categories": "sport"}, {"Kim runs."}),
        ({"categories": {"contains": "drinks"}}, {"Kim likes tea."}),
        ({"categories": {"in": ["drinks", "sport"]}}, {"Kim likes tea.", "Kim runs."}),
        ({"OR": [{"categories": ["sport"]}, {"categories": {"icontains": "DRI"}}]}, {"Kim likes tea.", "Kim runs."}),
        ({"NOT": [{"categories": "sport"}, {"categories": "drinks"}]}, {"Kim swims in the sea."}),
    ):
        listed = client.post("/v3/memories/", {"filters": {"AND": [{"user_id": "kim"}, wanted]}}).json()
        assert {each["memory"] for each in listed["results"]} == expected, wanted


def test_a_search_tells_what_is_disputed_or_waits(client: APIClient) -> None:
    stored = {"messages": [{"role": "user", "content": "Kim likes tea."}], "user_id": "kim", "infer": False}
    client.post("/v3/memories/add/", stored)
    (hit,) = client.post("/v3/memories/search/", {"query": "tea", **OF_KIM}).json()["results"]
    assert (hit["unverified"], hit["disputed"]) == (False, False)


def test_an_unknown_address_is_answered_as_json(client: APIClient) -> None:
    for version in ("v1", "v2", "v3"):
        assert client.get(f"/{version}/nothing/").json()["code"] == "not_found"


def test_refusals_are_json_that_the_client_reads(client: APIClient, admin: APIClient) -> None:
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
    no_json = (
        "{[]: 1}",
        "{'topic': {1}}",
        "{'topic': b'x'}",
        "{'topic': [(1, 2)]}",
        "{'topic': 1e999}",
        "{'topic': 1j}",
    )
    for filters in ("[" * 150, "{'user_id': print()}", "['user_id']", "{1: 2}", *no_json):
        assert admin.delete(f"/v1/memories/?user_id=kim&filters={filters}").status_code == 422, filters
    refused = admin.delete("/v1/memories/?user_id=kim&tags=work&confirm=x")
    assert (refused.status_code, "is unknown" in refused.json()["detail"]) == (422, True)
    assert admin.delete("/v1/memories/").status_code == 422
    assert client.get("/v1/entities/").status_code == 403
    client.post("/v3/memories/add/", {"messages": SAID, "user_id": "kim"})
    assert [each["name"] for each in admin.get("/v1/entities/").json()["results"]] == ["kim"]


def stored(client: APIClient, *texts: str) -> list[str]:
    facts = [{"role": "user", "content": each} for each in texts]
    made = client.post("/v3/memories/add/", {"messages": facts, **OF_KIM, "infer": False}).json()["results"]
    return [each["id"] for each in made]


def texts_of(client: APIClient, **conditions: Any) -> list[str]:
    found = client.post("/v3/memories/", {**OF_KIM, **conditions}).json()["results"]
    return sorted(each["memory"] for each in found)


def test_delete_all_is_for_admins_and_deletes_all(
    client: APIClient, admin: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revising, "BATCH", 2)
    stored(client, "Kim likes tea.", "Kim has a canary.", "Kim rows.", "Kim sings.", "Kim runs.")
    doubtful = {"type": "fact", "content": "Kim flies.", "confidence": 0.1}
    assert client.post("/v1/memories", {"user_id": "kim", "memories": [doubtful]}).status_code == 201
    rule = {"type": "fact", "content": "Never suggest pork.", "tags": ["constraint"]}
    admin.post("/v1/memories", {"user_id": "kim", "memories": [rule]})

    assert client.delete("/v1/memories/?user_id=kim").json()["code"] == "insufficient_scope"
    assert Memory.objects.live().count() == 7
    assert "successfully" in admin.delete("/v1/memories/?user_id=kim").json()["message"]
    assert not Memory.objects.live().exists()


def test_delete_all_of_very_many_memories(client: APIClient, admin: APIClient) -> None:
    stored(client, "Kim likes tea.")
    one = Memory.objects.get()
    copies = (copy(one) for _ in range(VERY_MANY - 1))
    Memory.objects.bulk_create((renamed(each) for each in copies), batch_size=500)

    with CaptureQueriesContext(connection) as queries:
        answer = admin.delete("/v1/memories/?user_id=kim")

    assert (answer.status_code, Memory.objects.live().count()) == (200, 0)
    assert "successfully" in answer.json()["message"]
    assert LedgerEntry.objects.filter(verb="retracted").count() == VERY_MANY
    assert len(queries) < VERY_MANY


def renamed(memory: Memory) -> Memory:
    memory.pk = new_id()
    memory.canonical_hash = memory.pk.hex
    return memory


def test_users_are_all_listed_or_none(admin: APIClient, client: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "MOST_USERS", 1)
    stored(client, "Kim likes tea.")
    assert admin.get("/v1/entities/").json()["count"] == 1
    client.post("/v3/memories/add/", {"messages": SAID, "user_id": "lea"})
    assert admin.get("/v1/entities/").json()["code"] == "not_supported"


def test_conditions_are_never_ignored(client: APIClient, admin: APIClient) -> None:
    stored(client, "Kim likes tea.", "Kim has a canary.")
    assert texts_of(client, categories=["travel"]) == []
    assert texts_of(client, end_date="2020-01-01") == []
    assert len(texts_of(client, start_date="2020-01-01")) == 2
    searched = {"query": "tea", **OF_KIM, "categories": ["travel"]}
    assert client.post("/v3/memories/search/", searched).json()["results"] == []
    assert admin.delete("/v1/memories/?filters={'user_id': 'kim', 'topic': 'travel'}").status_code == 200
    assert len(texts_of(client)) == 2
    assert admin.delete("/v1/memories/?filters={'user_id': 'kim'}").status_code == 200
    assert texts_of(client) == []


def test_entities_are_erased_and_what_has_no_counterpart_is_refused(admin: APIClient, client: APIClient) -> None:
    stored(client, "Kim likes tea.")
    assert client.delete("/v2/entities/user/kim/").status_code == 403
    assert admin.delete("/v2/entities/user/kim/").json()["message"] == "Entity deleted successfully!"
    assert admin.get("/v1/entities/").json()["results"] == []
    refused = [
        admin.delete("/v2/entities/agent/a1/"),
        admin.delete("/v2/entities/pet/kim/"),
        client.put("/v1/batch/", {"memories": []}),
        client.delete("/v1/batch/", {"memories": []}),
        client.post("/v1/feedback/", {"memory_id": "mem_1"}),
        client.post("/v1/summary/", OF_KIM),
        client.get("/v2/entities/user/kim/profile/"),
        client.get("/v2/profiles/settings/"),
        client.post("/v1/exports/", {"schema": {}}),
        client.post("/v2/profiles/settings/", {"enabled": True}),
        client.post("/v2/profiles/jobs/", {"operation": "trigger"}),
        client.get("/api/v1/orgs/organizations/o/projects/p/"),
    ]
    for answer in refused:
        assert (answer.status_code, answer["Content-Type"]) == (422, "application/json")
        assert answer.json()["code"] == "not_supported"


def remembered(client: APIClient, *messages: dict[str, Any]) -> list[str]:
    """Add the messages of a conversation, do the work, and return what is remembered."""
    added = client.post("/v3/memories/add/", {"messages": list(messages), "user_id": "kim"})
    assert added.status_code == 200, added.content
    Person(Project.objects.get(), "kim").is_worked_for()
    return [each["memory"] for each in client.post("/v3/memories/", OF_KIM).json()["results"]]


CALLS = [{"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}]


@pytest.mark.parametrize(
    "other",
    [
        {"role": "assistant", "content": None, "tool_calls": CALLS},
        {"role": "assistant", "tool_calls": CALLS},
        {"role": "assistant", "content": ""},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}]},
        {"role": "developer", "content": "Be brief."},
        {"role": "function", "name": "look_up", "content": "{}"},
        {"role": "user", "content": "x" * 20_001},
        {"role": "user", "content": {"text": "x"}},
    ],
)
def test_a_message_without_text_loses_no_other(client: APIClient, other: dict[str, Any]) -> None:
    assert "Porto" in " ".join(remembered(client, SAID[0], other))


def test_each_statement_belongs_to_its_speaker(client: APIClient) -> None:
    petra = {"role": "user", "name": "Petra", "content": "I live in Delft."}
    olaf = {"role": "user", "name": "Olaf", "content": "I live in Aarhus."}
    known = " ".join(remembered(client, petra, olaf))
    assert "Petra lives in Delft." in known
    assert "Olaf lives in Aarhus." in known


def test_the_answer_names_the_messages_that_were_skipped(client: APIClient) -> None:
    messages = [
        {"role": "assistant", "content": None, "tool_calls": CALLS},
        SAID[0],
        {"role": "user", "content": [{"type": "text", "text": None}]},
    ]
    for infer in (True, False):
        body = {"messages": messages, "user_id": "kim", "infer": infer}
        skipped = client.post("/v3/memories/add/", body).json()["skipped"]
        assert [each["pointer"] for each in skipped] == ["/messages/0/content", "/messages/2/content"]
    assert "None" not in [each["memory"] for each in client.post("/v3/memories/", OF_KIM).json()["results"]]
    refused = client.post("/v3/memories/add/", {"messages": messages[:1], "user_id": "kim"})
    assert refused.status_code == 422
