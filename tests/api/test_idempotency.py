"""Idempotency-Key: a request is executed once, however often it is sent."""

import threading
from contextlib import suppress
from typing import Any

import pytest
from django.db import connection
from django.test import override_settings
from rest_framework.test import APIClient

from apps.common.errors import Refused
from apps.intake.idempotency import Claim, ReplayableAnswer, run_once
from apps.memories.models import Memory
from apps.pipeline.core.enums import Scope
from apps.tenants.models import Project
from apps.traces.models import IdempotentRequest, Trace
from tests.api.counting import rows_by_table
from tests.conftest import MakeClient

KEY = {"headers": {"Idempotency-Key": "request-1"}}
MEMORIES = {"user_id": "ana", "memories": [{"type": "fact", "content": "Ana lives in Lisbon."}]}


@pytest.mark.parametrize("path", ["/v1/turns", "/v1/memories"])
def test_a_repetition_gets_the_same_answer(client: APIClient, conversation: dict[str, Any], path: str) -> None:
    body = conversation if path == "/v1/turns" else MEMORIES
    first = client.post(path, body, **KEY)
    after = rows_by_table()

    second = client.post(path, body, **KEY)

    assert second.status_code == first.status_code
    assert second.json() == first.json()
    assert "Idempotent-Replayed" not in first
    assert second["Idempotent-Replayed"] == "true"
    assert second.get("X-Trace-Id") == first.get("X-Trace-Id")
    assert rows_by_table() == after


def test_another_body_is_refused(client: APIClient) -> None:
    client.post("/v1/memories", MEMORIES, **KEY)
    before = rows_by_table()

    answer = client.post("/v1/memories", {**MEMORIES, "user_id": "bob"}, **KEY)

    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_mismatch")
    assert rows_by_table() == before


def test_the_same_body_for_another_address_is_refused(client: APIClient, conversation: dict[str, Any]) -> None:
    client.post("/v1/memories", MEMORIES, **KEY)

    answer = client.post("/v1/turns", conversation, **KEY)

    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_mismatch")


def test_the_spelling_of_a_body_does_not_matter(client: APIClient) -> None:
    client.post("/v1/memories", MEMORIES, **KEY)
    spelled = b'{ "memories": [{"content": "Ana lives in L\\u0069sbon.", "type": "fact"}],  "user_id": "ana" }'

    answer = client.generic("POST", "/v1/memories", spelled, content_type="application/json", **KEY)

    assert answer["Idempotent-Replayed"] == "true"


def test_a_refused_request_leaves_its_key_free(client: APIClient) -> None:
    client.post("/v1/memories", {**MEMORIES, "memories": []}, **KEY)

    assert client.post("/v1/memories", MEMORIES, **KEY).status_code == 201


def test_keys_of_other_projects_are_others(client: APIClient, other_project: Project, client_of: MakeClient) -> None:
    client.post("/v1/memories", MEMORIES, **KEY)

    answer = client_of(other_project, Scope.WRITE).post("/v1/memories", {**MEMORIES, "user_id": "bob"}, **KEY)

    assert answer.status_code == 201


@pytest.mark.parametrize("key", ["", " ", "k" * 256, "a\tb"])
def test_bad_keys(client: APIClient, key: str) -> None:
    before = rows_by_table()

    answer = client.post("/v1/memories", MEMORIES, headers={"Idempotency-Key": key})

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert answer.json()["errors"][0]["parameter"] == "Idempotency-Key"
    assert rows_by_table() == before


def test_a_repeated_sync_request_returns_the_current_state(client: APIClient, conversation: dict[str, Any]) -> None:
    body = {**conversation, "mode": "sync"}
    first = client.post("/v1/turns", body, **KEY)

    second = client.post("/v1/turns", body, **KEY)

    assert (first.status_code, second.status_code) == (200, 200)
    assert second.json() == first.json()
    assert second["Idempotent-Replayed"] == "true"
    assert Trace.objects.count() == 1


def test_a_sync_repetition_waits_for_nothing(client: APIClient, conversation: dict[str, Any]) -> None:
    body = {**conversation, "mode": "sync"}
    with override_settings(SYNC_WAIT_SECONDS=0):
        client.post("/v1/turns", body, **KEY)

    answer = client.post("/v1/turns", body, **KEY)

    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_in_progress")


def test_a_new_key_is_shown_once(admin: APIClient) -> None:
    body = {"name": "agent", "scopes": ["read"]}
    first = admin.post("/v1/keys", body, **KEY).json()

    second = admin.post("/v1/keys", body, **KEY).json()

    assert second == {**first, "key": None}
    secret = first["key"].split("_", 2)[2]
    assert secret not in str(list(IdempotentRequest.objects.values()))


@pytest.mark.django_db(transaction=True)
def test_a_running_request_is_not_waited_for(project: Project, client_of: MakeClient) -> None:
    client = client_of(project, Scope.WRITE)
    claimed, answered = threading.Event(), threading.Event()

    def work() -> ReplayableAnswer:
        claimed.set()
        answered.wait(timeout=120)
        raise Refused

    def hold() -> None:
        with suppress(Refused):  # so that nothing of it is stored
            run_once(claim=Claim(project_id=project.id, key="request-1", fingerprint=""), do=work)
        connection.close()

    running = threading.Thread(target=hold)
    running.start()
    assert claimed.wait(timeout=120)
    answer = client.post("/v1/memories", MEMORIES, **KEY)
    answered.set()
    running.join()

    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_in_progress")
    assert Memory.objects.count() == 0
    assert client.post("/v1/memories", MEMORIES, **KEY).status_code == 201
