"""Items: JSON by namespace and key, with true deletion, expiry, versions, filters, words and owners."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from apps.items.models import StoredItem
from apps.memories.models import LedgerEntry
from apps.pipeline.core.enums import Scope
from apps.projects.services import change_policy
from apps.queue.prune import prune
from apps.tenants.models import EndUser, Project
from tests.conftest import MakeClient
from tests.streamed import streamed

PLACE = {"namespace": ["docs", "ana"], "key": "k"}


def put(client: APIClient, key: str = "k", namespace: tuple[str, ...] = ("docs", "ana"), **fields: Any) -> Any:
    body = {"namespace": list(namespace), "key": key, "value": {}, **fields}
    answer = client.put("/v1/items", body)
    assert answer.status_code == 200, answer.content
    return answer.json()


def found(client: APIClient, **wanted: Any) -> list[str]:
    answer = client.post("/v1/items/search", {"order": "oldest", **wanted})
    assert answer.status_code == 200, answer.content
    return [item["key"] for item in answer.json()["results"]]


def operations(client: APIClient, *each: dict[str, Any]) -> Any:
    return client.post("/v1/items/batch", {"operations": list(each)})


def test_an_item_comes_back_as_it_was_and_is_gone_when_deleted(client: APIClient) -> None:
    value = {"": None, "n": [1, 1.5, -0.25, 10**25], "deep": {"ü": "💡", "yes": True}, "blank": " \n"}
    first = put(client, value=value)
    assert (first["value"], first["version"]) == (value, 1)
    second = put(client, value=value | {"more": 1})
    assert (second["version"], second["created_at"]) == (2, first["created_at"])
    assert client.get("/v1/items", PLACE).json() == second
    assert client.delete("/v1/items?namespace=docs&namespace=ana&key=k").status_code == 204
    assert not StoredItem.objects.exists()
    assert client.get("/v1/items", PLACE).json()["code"] == "not_found"
    assert client.delete("/v1/items?namespace=docs&namespace=ana&key=k").status_code == 404


FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["a", "b", "c"]),
    ({"n": 1}, ["a"]),
    ({"n": {"$eq": 1}}, ["a"]),
    ({"n": {"$ne": 1}}, ["b", "c"]),
    ({"n": {"$gt": 1}}, ["b"]),
    ({"n": {"$gte": 1, "$lt": 10}}, ["a"]),
    ({"n": {"$lte": 10}}, ["a", "b"]),
    ({"day": {"$gt": "2026-01-31"}}, ["b"]),
    ({"who": {"name": "Ana"}}, ["a"]),
    ({"who": {"name": {"$ne": "Ana"}}}, ["b"]),
    ({"tags": ["x", "y"]}, ["a"]),
    ({"tags": ["x"]}, []),
    ({"missing": None}, ["a", "b", "c"]),
    ({"n": 1, "who": {"name": "Bo"}}, []),
    ({"'; drop table x; --": 1}, []),
]


def test_filters(client: APIClient) -> None:
    put(client, "a", value={"n": 1, "who": {"name": "Ana"}, "tags": ["x", "y"], "day": "2026-01-31"})
    put(client, "b", value={"n": 10, "who": {"name": "Bo"}, "tags": "x", "day": "2026-02-01"})
    put(client, "c", value={"n": "10", "who": "Ana"})
    for wanted, keys in FILTERS:
        assert found(client, filter=wanted) == keys, wanted
    for bad, at in (({"n": {"$in": [1]}}, "/filter/n/$in"), ({"n": {"$gt": None}}, "/filter/n/$gt")):
        refused = client.post("/v1/items/search", {"filter": bad})
        assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, at)


def test_namespaces(client: APIClient) -> None:
    for namespace in (("a",), ("a", "b"), ("a", "b", "c"), ("a!", "b"), ("x", "b")):
        put(client, namespace[-1] + str(len(namespace)), namespace=namespace)
    assert found(client, namespace_prefix=["a"]) == ["a1", "b2", "c3"]
    assert found(client, namespace_prefix=["a", "b"], limit=1, offset=1) == ["c3"]
    cases: list[tuple[dict[str, Any], list[list[str]]]] = [
        ({}, [["a"], ["a", "b"], ["a", "b", "c"], ["a!", "b"], ["x", "b"]]),
        ({"prefix": ["*", "b"]}, [["a", "b"], ["a", "b", "c"], ["a!", "b"], ["x", "b"]]),
        ({"suffix": ["b"]}, [["a", "b"], ["a!", "b"], ["x", "b"]]),
        ({"prefix": ["a"], "suffix": ["*", "c"]}, [["a", "b", "c"]]),
        ({"max_depth": 1, "limit": 2, "offset": 1}, [["a!"], ["x"]]),
    ]
    for wanted, names in cases:
        assert client.post("/v1/items/namespaces", wanted).json()["results"] == names, wanted


def test_words_put_items_first(client: APIClient) -> None:
    put(client, "plain", value={"text": "The train leaves at noon."})
    put(client, "pets", value={"about": {"text": "Ana likes dogs"}})
    put(client, "hidden", value={"text": "dogs"}, text="")
    put(client, "told", value={"text": "nothing"}, text="a dog, a dog")
    answer = client.post("/v1/items/search", {"query": "Which dog does she like?", "order": "oldest"}).json()
    assert {item["key"] for item in answer["results"][:2]} == {"pets", "told"}
    assert [item["score"] is None for item in answer["results"]] == [False, False, True, True]


def test_an_operation_sees_what_was_before(client: APIClient) -> None:
    put(client, value={"n": 1})
    get, write = {"operation": "get", **PLACE}, {"operation": "put", **PLACE}
    done = operations(client, {**write, "value": {"n": 2}}, get, {**write, "value": {"n": 3}}).json()["results"]
    assert [each["item"]["value"]["n"] for each in done] == [2, 1, 3]
    assert client.get("/v1/items", PLACE).json()["value"] == {"n": 3}
    refused = operations(
        client, {"operation": "clear", "namespace_prefix": ["docs"]}, {**write, "value": {}, "expected_version": 7}
    )
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    assert found(client) == ["k"]  # nothing was done
    assert operations(client, {"operation": "clear", "namespace_prefix": ["docs"]}).json()["results"][0]["deleted"] == 1


def test_versions(client: APIClient) -> None:
    for expected, status in ((1, 409), (0, 200), (0, 409), (2, 409), (1, 200), (2, 200)):
        answer = client.put("/v1/items", {**PLACE, "value": {}, "expected_version": expected})
        assert answer.status_code == status, expected


def test_the_newest_is_popped(client: APIClient) -> None:
    for key in "abc":
        put(client, key, namespace=("s",))
    put(client, "other", namespace=("s", "deeper"))
    put(client, "a", namespace=("s",), value={"again": True})
    pop = {"operation": "pop", "namespace": ["s"]}
    taken = [operations(client, pop).json()["results"][0]["item"] for _ in range(4)]
    assert [each and each["key"] for each in taken] == ["c", "b", "a", None]


def test_an_item_expires_unless_it_is_read(client: APIClient) -> None:
    put(client, value={"old": 1}, ttl_minutes=5)
    soon, past = timezone.now() + timedelta(minutes=1), timezone.now() - timedelta(minutes=1)
    StoredItem.objects.update(expires_at=soon)
    assert client.get("/v1/items", {**PLACE, "refresh_ttl": "false"}).status_code == 200
    assert StoredItem.objects.get().expires_at == soon
    assert client.get("/v1/items", PLACE).status_code == 200
    assert StoredItem.objects.get().expires_at > soon
    StoredItem.objects.update(expires_at=past)
    assert client.get("/v1/items", PLACE).status_code == 404
    assert found(client) == client.post("/v1/items/namespaces", {}).json()["results"] == []
    assert put(client, value={"new": 1}, expected_version=0)["version"] == 1
    put(client, "gone", ttl_minutes=1)
    StoredItem.objects.filter(key="gone").update(expires_at=past)
    prune()
    assert [item.key for item in StoredItem.objects.all()] == ["k"]


def test_items_of_a_user_are_exported_and_erased_with_the_user(admin: APIClient, client: APIClient) -> None:
    put(client, "hers", user_id="ana", value={"canary": "Xyloquartz"})
    put(client, "nobodys")
    assert found(client, user_id="ana") == ["hers"]
    lines = [json.loads(line) for line in streamed(admin.get("/v1/users/ana/export")).splitlines()]
    (exported,) = [line for line in lines if line["kind"] == "items"]
    assert (exported["value"], exported["namespace"]) == ({"canary": "Xyloquartz"}, ["docs", "ana"])
    assert admin.delete("/v1/users/ana").json()["deleted"] == {"items": 1}
    assert found(client) == ["nobodys"]
    EndUser.objects.update(erasing_since=timezone.now())
    assert client.put("/v1/items", {**PLACE, "value": {}, "user_id": "ana"}).status_code == 409


def test_projects_and_scopes_are_apart(
    client: APIClient, client_of: MakeClient, project: Project, other_project: Project
) -> None:
    put(client)
    stranger, reader = client_of(other_project, Scope.WRITE, Scope.READ), client_of(project, Scope.READ)
    assert (found(stranger), stranger.get("/v1/items", PLACE).status_code) == ([], 404)
    assert stranger.delete("/v1/items?namespace=docs&namespace=ana&key=k").status_code == 404
    assert (
        operations(stranger, {"operation": "clear", "namespace_prefix": ["docs"]}).json()["results"][0]["deleted"] == 0
    )
    assert operations(reader, {"operation": "get", **PLACE}).json()["results"][0]["item"]["key"] == "k"
    assert operations(reader, {"operation": "delete", **PLACE}).json()["code"] == "insufficient_scope"
    project.archived_at = timezone.now()
    project.save()
    assert operations(client, {"operation": "delete", **PLACE}).json()["code"] == "project_archived"
    assert operations(client, {"operation": "get", **PLACE}).status_code == 200


def test_limits(client: APIClient, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    refusals: list[tuple[dict[str, Any], int]] = [
        ({"value": {"text": "x" * 1024 * 1024}}, 413),
        ({"namespace": ["ü" * 255] * 4}, 413),
        ({"namespace": []}, 422),
        ({"namespace": ["a\nb"]}, 422),
        ({"key": ""}, 422),
        ({"value": [1]}, 422),
        ({"ttl_minutes": 0}, 422),
    ]
    for change, status in refusals:
        assert client.put("/v1/items", {**PLACE, "value": {}, **change}).status_code == status, change
    longest = tuple(chr(0x4E00 + number) * 33 for number in range(15))  # as little compressible as labels can be
    put(client, "k" * 100, namespace=longest)
    assert found(client, namespace_prefix=list(longest)) == ["k" * 100]
    settings.MAX_ITEMS = 1
    full = client.put("/v1/items", {**PLACE, "value": {}})
    assert (full.status_code, full.json()["code"], "Retry-After" in full.headers) == (429, "quota_exceeded", True)
    assert client.delete("/v1/items", QUERY_STRING="").status_code == 422


def test_a_batch_creates_in_its_order(client: APIClient) -> None:
    """Whatever the order in which it locks keys."""
    operations(client, *({"operation": "put", "namespace": ["s"], "key": key, "value": {}} for key in "cabd"))
    assert found(client, namespace_prefix=["s"]) == list("cabd")


def test_sensitive_values_are_replaced_before_they_are_stored(client: APIClient, project: Project) -> None:
    secret = {"note": "My card is 4111 1111 1111 1111.", "password": "hunter2hunter2", "list": [{"n": 1}]}
    kept = put(client, value=secret)
    expected = {"note": "My card is [card].", "password": "[secret:password]", "list": [{"n": 1}]}
    assert kept["value"] == client.get("/v1/items", PLACE).json()["value"] == expected
    stored = StoredItem.objects.get()
    assert "4111" not in stored.words + json.dumps(stored.value)
    (outcome,) = operations(client, {"operation": "put", **PLACE, "value": secret}).json()["results"]
    assert outcome["item"]["value"] == expected
    change_policy(project_id=project.pk, base=1, changes={("redaction", "items"): False})
    assert put(client, value=secret)["value"] == secret


def test_items_of_a_session_are_deleted_with_it(admin: APIClient, client: APIClient) -> None:
    of_monday = {"user_id": "ana", "session_id": "monday"}
    assert put(client, "a", **of_monday)["session_id"] == "monday"
    put(client, "b", user_id="ana", session_id="tuesday")
    put(client, "c", user_id="kim", session_id="monday")
    put(client, "d", user_id="ana")
    refused = client.put("/v1/items", {**PLACE, "value": {}, "session_id": "monday"})
    assert refused.json()["errors"][0]["pointer"] == "/user_id"
    said = {"turns": [{"role": "user", "content": "I row."}], **of_monday}
    assert client.post("/v1/turns", said).status_code == 202
    monday, tuesday = (f"/v1/sessions/{day}?user_id=ana" for day in ("monday", "tuesday"))
    assert admin.delete(monday).json() == {"turns": 1, "memories": 0, "items": 1}
    assert found(client) == ["b", "c", "d"]
    assert admin.delete(tuesday).json() == {"turns": 0, "memories": 0, "items": 1}  # a session without turns
    assert admin.delete(tuesday).status_code == 404


def test_a_request_that_changes_items_has_one_entry_in_the_ledger(client: APIClient) -> None:
    def entries() -> list[tuple[Any, ...]]:
        found = LedgerEntry.objects.filter(verb="items_changed").order_by("id")
        return [(each.details, each.end_user_id is not None, each.actor[:4]) for each in found]

    of_ana = {"operation": "put", **PLACE, "value": {"secret": "words"}, "user_id": "ana"}
    operations(client, of_ana, {**of_ana, "key": "l"})
    operations(client, {**of_ana, "user_id": "kim"}, of_ana, {"operation": "delete", **PLACE})
    operations(client, {"operation": "clear", "namespace_prefix": ["docs"]})
    operations(client, {"operation": "get", **PLACE}, {"operation": "pop", "namespace": ["docs", "ana"]})
    assert entries() == [
        ({"stored": 2, "deleted": 0}, True, "key:"),
        ({"stored": 2, "deleted": 1}, False, "key:"),
        ({"stored": 0, "deleted": 1}, False, "key:"),
    ]
