"""API keys: authentication, scopes, and separation of projects."""

from collections.abc import Callable
from datetime import timedelta
from time import monotonic

import pytest
from cachetools import TTLCache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from apps.api import authentication
from apps.pipeline.core.enums import Scope
from apps.projects.api_keys import CreatedKey, create_key, revoke_key
from apps.tenants.models import ApiKey, Project
from tests.api.counting import rows_by_table
from tests.conftest import MakeClient

TURNS = {"user_id": "ana", "session_id": "monday", "turns": [{"role": "user", "content": "I live in Lisbon."}]}
MEMORIES = {"user_id": "ana", "memories": [{"type": "fact", "content": "Ana lives in Lisbon.", "subject": "Ana"}]}


@pytest.mark.parametrize("header", ["HTTP_AUTHORIZATION", "HTTP_X_API_KEY"])
@pytest.mark.parametrize("scheme", ["Bearer ", "Token ", ""])
def test_headers_that_carry_a_key(api_key: CreatedKey, header: str, scheme: str) -> None:
    client = APIClient(**{header: scheme + api_key.text})
    fits = bool(scheme) == (header == "HTTP_AUTHORIZATION")

    assert client.get("/v1/memories?user_id=ana").status_code == (200 if fits else 401)


def test_no_key(db: None) -> None:
    before = rows_by_table()

    answer = APIClient().post("/v1/turns", TURNS, format="json")

    assert (answer.status_code, answer.json()["code"]) == (401, "missing_key")
    assert "Authorization: Bearer" in answer.json()["detail"]
    assert answer["WWW-Authenticate"].startswith("Bearer")
    assert rows_by_table() == before


def spoil(key: CreatedKey, how: str) -> str:
    row = ApiKey.objects.filter(id=key.key.id)
    if how == "expired":
        row.update(expires_at=timezone.now() - timedelta(seconds=1))
    if how == "removed":
        row.delete()
    if how == "revoked":
        revoke_key(project_id=key.key.project_id, key_id=key.key.id)
    spoiled = {"wrong secret": key.text[:-1] + ("a" if key.text[-1] != "a" else "b"), "nonsense": "mp_x", "empty": ""}
    return spoiled.get(how, key.text)


@pytest.mark.parametrize("how", ["expired", "revoked", "wrong secret", "nonsense", "empty"])
def test_bad_keys_look_the_same(api_key: CreatedKey, how: str) -> None:
    text = spoil(api_key, how)
    before = rows_by_table()

    answer = APIClient(HTTP_AUTHORIZATION=f"Bearer {text}").post("/v1/turns", TURNS, format="json")

    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_key")
    assert answer.json()["detail"] == "the API key is not valid"
    assert rows_by_table() == before


@pytest.mark.parametrize("how", ["expired", "revoked", "removed"])
@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "request-1"}], ids=["", "repeated"])
def test_a_key_that_was_good_a_moment_ago_is_refused_at_once(
    api_key: CreatedKey, client: APIClient, how: str, headers: dict[str, str]
) -> None:
    assert client.post("/v1/turns", TURNS, headers=headers).status_code == 202
    spoil(api_key, how)
    before = rows_by_table()

    answer = client.post("/v1/turns", TURNS, headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_key")
    assert answer.json()["detail"] == "the API key is not valid"
    assert answer["WWW-Authenticate"].startswith("Bearer")
    assert rows_by_table() == before


def test_a_refusal_names_the_scope_that_is_needed(client: APIClient) -> None:
    answer = client.get("/v1/keys")

    assert (answer.status_code, answer.json()["code"]) == (403, "insufficient_scope")
    assert "scope admin" in answer.json()["detail"]


def test_another_project_sees_and_changes_nothing(
    client: APIClient, other_project: Project, client_of: MakeClient
) -> None:
    trace = client.post("/v1/turns", {**TURNS, "mode": "sync"}).json()["trace_id"]
    memory = client.post("/v1/memories", MEMORIES).json()["results"][0]
    stranger = client_of(other_project, Scope.ADMIN)
    before = rows_by_table()

    for path in (f"/v1/traces/{trace}", f"/v1/memories/{memory['id']}", f"/v1/entities/{memory['subject']['id']}"):
        answer = stranger.get(path)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert stranger.patch(f"/v1/memories/{memory['id']}", {"importance": 1}).status_code == 404
    assert stranger.delete(f"/v1/memories/{memory['id']}").status_code == 404
    for path in ("/v1/traces", "/v1/memories", "/v1/entities"):
        assert stranger.get(path).json()["results"] == []
        assert stranger.get(f"{path}?user_id=ana").json()["results"] == []
    assert rows_by_table() == before
    assert client.get(f"/v1/memories/{memory['id']}").json()["status"] == "active"


def test_the_same_user_id_names_other_people_in_other_projects(
    client: APIClient, other_project: Project, client_of: MakeClient
) -> None:
    client.post("/v1/memories", MEMORIES)
    stranger = client_of(other_project, Scope.READ, Scope.WRITE)

    stranger.post("/v1/memories", MEMORIES)

    assert len(client.get("/v1/memories?user_id=ana").json()["results"]) == 1


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Advance the clock of the process's caches."""
    passed = [0.0]
    callers = TTLCache(maxsize=10, ttl=authentication.CALLER_CACHE_SECONDS, timer=lambda: monotonic() + passed[0])
    monkeypatch.setattr(authentication, "_callers", callers)
    return lambda seconds: passed.__setitem__(0, passed[0] + seconds)


def test_a_key_is_looked_up_once_a_minute_for_turns(client: APIClient, later: Callable[[float], None]) -> None:
    client.post("/v1/turns", TURNS)
    with CaptureQueriesContext(connection) as first:
        client.post("/v1/turns", TURNS)
    later(authentication.CALLER_CACHE_SECONDS)
    with CaptureQueriesContext(connection) as second:
        client.post("/v1/turns", TURNS)

    def looks(queries: CaptureQueriesContext) -> int:
        return sum('"tenants_apikey"."hash"' in query["sql"] for query in queries.captured_queries)

    assert (looks(first), looks(second)) == (0, 1)


def test_last_use_is_noted_once_a_minute(api_key: CreatedKey, client: APIClient) -> None:
    client.get("/v1/memories?user_id=ana")
    noted = ApiKey.objects.get(id=api_key.key.id).last_used_at
    client.get("/v1/memories?user_id=ana")

    assert noted is not None
    assert ApiKey.objects.get(id=api_key.key.id).last_used_at == noted

    ApiKey.objects.filter(id=api_key.key.id).update(last_used_at=noted - timedelta(minutes=2))
    client.get("/v1/memories?user_id=ana")

    assert ApiKey.objects.get(id=api_key.key.id).last_used_at >= noted


def test_keys_over_rest(admin: APIClient, other_project: Project) -> None:
    made = admin.post("/v1/keys", {"name": "agent", "scopes": ["read"]})
    other = create_key(project_id=other_project.id, name="theirs", scopes=[Scope.READ]).key

    assert made.status_code == 201
    reader = APIClient(HTTP_AUTHORIZATION=f"Bearer {made.json()['key']}")
    assert reader.get("/v1/memories?user_id=ana").status_code == 200
    listed = admin.get("/v1/keys").json()["results"]
    assert [key["name"] for key in listed] == ["agent", "made"]
    assert "key" not in listed[0]

    assert admin.delete(f"/v1/keys/{made.json()['id']}").status_code == 204
    assert admin.delete(f"/v1/keys/{made.json()['id']}").status_code == 204
    assert reader.get("/v1/memories?user_id=ana").status_code == 401
    assert admin.delete(f"/v1/keys/key_{other.id.hex}").status_code == 404
