"""Requests beyond a quota are answered 429 with the time to wait; others are not held up."""

from decimal import Decimal
from typing import Any

import pytest
from cachetools import TTLCache
from django.test import AsyncRequestFactory
from django.urls import resolve
from rest_framework.test import APIClient

from apps.api import authentication
from apps.api.waiting import IS_PART
from apps.intake import quotas
from apps.pipeline.core.enums import Scope
from apps.projects.api_keys import create_key
from apps.tenants.models import ApiKey, Project
from apps.traces.models import ModelCall, Trace
from tests.conftest import MakeClient, calling_with

LIST = "/v1/memories?user_id=ana"


@pytest.fixture(autouse=True)
def _look_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authentication, "_callers", TTLCache(maxsize=10, ttl=0.0))
    monkeypatch.setattr(quotas, "MINUTE", 24 * 60 * 60)  # a window that doesn't end during a test


def statuses(client: APIClient, requests: int) -> list[int]:
    return [client.get(LIST).status_code for _ in range(requests)]


def test_the_requests_of_a_key_are_limited(project: Project, client: APIClient) -> None:
    limited = create_key(project_id=project.id, name="k", scopes=[Scope.READ], requests_per_minute=2)
    caller = calling_with(limited.text)
    assert statuses(caller, 3) == [200, 200, 429]
    refused = caller.get(LIST)
    assert refused.json()["code"] == "rate_limited"
    assert int(refused["Retry-After"]) > 0
    assert statuses(client, 3) == [200, 200, 200]


def test_the_requests_of_a_project_are_limited_over_its_keys(
    project: Project, other_project: Project, client_of: MakeClient
) -> None:
    Project.objects.filter(pk=project.pk).update(requests_per_minute=3)
    one, two = client_of(project, Scope.READ), client_of(project, Scope.READ)
    assert statuses(one, 2) + statuses(two, 2) == [200, 200, 200, 429]
    assert statuses(client_of(other_project, Scope.READ), 1) == [200]


def test_a_part_of_a_request_is_not_counted_again(project: Project) -> None:
    """Callers can't claim to be one."""
    key = create_key(project_id=project.id, name="k", scopes=[Scope.READ], requests_per_minute=1).text

    def asked(*, is_part: bool = False) -> int:
        headers = {"X-API-Key": key, "memplatform.is-part": "1"}
        request = AsyncRequestFactory().get(LIST, headers=headers)
        if is_part:
            request.scope[IS_PART] = True
        return int(resolve(request.path).func(request).status_code)

    assert [asked(is_part=True) for _ in range(2)] == [200, 200]
    assert [asked() for _ in range(2)] == [200, 429]


def test_a_request_that_waits_is_counted_once(
    project: Project, client: APIClient, conversation: dict[str, Any]
) -> None:
    trace = client.post("/v1/turns", conversation).json()["trace_id"]
    limited = calling_with(create_key(project_id=project.id, name="k", scopes=[Scope.READ], requests_per_minute=1).text)
    assert [limited.get(f"/v1/traces/{trace}?wait=1").status_code for _ in range(2)] == [200, 429]


def test_a_new_limit_holds_for_keys_in_use(client: APIClient) -> None:
    assert statuses(client, 1) == [200]
    ApiKey.objects.update(requests_per_minute=0)
    assert statuses(client, 1) == [429]


def test_stored_memories_are_limited(project: Project, client: APIClient, conversation: dict[str, Any]) -> None:
    Project.objects.filter(pk=project.pk).update(max_memories=1)
    body = {"user_id": "ana", "memories": [{"type": "fact", "content": "Ana lives in Lisbon."}]}
    assert [client.post("/v1/memories", body).status_code for _ in range(2)] == [201, 429]
    refused = client.post("/v1/turns", conversation)
    assert (refused.status_code, refused.json()["code"]) == (429, "quota_exceeded")
    assert statuses(client, 1) == [200]


def test_the_model_budget_is_limited(project: Project, client: APIClient, conversation: dict[str, Any]) -> None:
    Project.objects.filter(pk=project.pk).update(max_model_usd_per_day=Decimal("0.50"))
    assert client.post("/v1/turns", conversation).status_code == 202
    trace = Trace.objects.get()
    ModelCall.objects.create(
        end_user_id=trace.end_user_id, trace=trace, purpose="extract", model="m", cost_usd=Decimal("0.50")
    )
    refused = client.post("/v1/turns", conversation)
    assert (refused.status_code, refused.json()["code"]) == (429, "quota_exceeded")
    assert 0 < int(refused["Retry-After"]) <= 24 * 60 * 60
