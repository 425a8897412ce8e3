"""Query parameters and filters: unknown ones are refused, dates need no time, enums name their values."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.pipeline.core.enums import MemoryType, Scope, Stakes
from apps.tenants.models import Project
from tests.api.counting import rows_by_table
from tests.conftest import MakeClient

MEMORY = {"type": "fact", "content": "Ana lives in Lisbon.", "said_at": "2026-03-02T09:00:00Z"}
CALLS: list[tuple[str, str, Any]] = [
    ("POST", "/v1/turns", {"user_id": "ana", "session_id": "s", "turns": [{"role": "user", "content": "I ski."}]}),
    ("POST", "/v1/memories", {"user_id": "ana", "memories": [MEMORY]}),
    ("POST", "/v1/memories/search", {"user_id": "ana", "query": "home"}),
    ("POST", "/v1/context", {"user_id": "ana"}),
    ("POST", "/v1/sessions/s/end", {"user_id": "ana"}),
    ("POST", "/v1/keys", {"name": "k", "scopes": ["read"]}),
    ("GET", "/v1/memories/mem_x", None),
    ("PATCH", "/v1/memories/mem_x", {"importance": 1}),
    ("DELETE", "/v1/memories/mem_x", None),
    ("GET", "/v1/memories/mem_x/history", None),
    ("GET", "/v1/traces/trc_x", None),
    ("GET", "/v1/entities/ent_x", None),
    ("GET", "/v1/memories", None),
    ("GET", "/v1/traces", None),
    ("GET", "/v1/entities", None),
    ("GET", "/v1/keys", None),
    ("GET", "/v1/links", None),
    ("POST", "/v1/links/lnk_x/settle", {"resolution": "both"}),
    ("GET", "/v1/stats", None),
]


@pytest.mark.parametrize(("method", "path", "body"), CALLS, ids=[f"{method} {path}" for method, path, _ in CALLS])
def test_unknown_parameters_are_refused(
    client_of: MakeClient, project: Project, method: str, path: str, body: Any
) -> None:
    client = client_of(project, Scope.ADMIN)
    before = rows_by_table()

    answer = client.generic(method, f"{path}?colour=red", content_type="application/json") if body is None else None
    answer = answer or getattr(client, method.lower())(f"{path}?colour=red", body)

    assert answer.status_code == 422, answer.content
    assert answer.json()["errors"][0]["parameter"] == "colour"
    assert rows_by_table() == before


@pytest.mark.parametrize(
    ("parameters", "found"),
    [
        ("since=2026-03-02", 1),
        ("since=2026-03-03", 0),
        ("until=2026-03-02", 1),  # the whole day
        ("until=2026-03-01", 0),
        ("as_of=2026-03-02", 1),
        ("as_of=2026-03-01", 0),
    ],
)
def test_a_date_needs_no_time(client: APIClient, parameters: str, found: int) -> None:
    client.post("/v1/memories", {"user_id": "ana", "memories": [MEMORY]})
    name, _, value = parameters.partition("=")

    listed = client.get(f"/v1/memories?user_id=ana&{parameters}")
    searched = client.post("/v1/memories/search", {"user_id": "ana", "query": "Lisbon", name: value})

    assert (listed.status_code, searched.status_code) == (200, 200), (listed.content, searched.content)
    assert len(listed.json()["results"]) == len(searched.json()["results"]) == found


@pytest.mark.parametrize("value", ["2026-02-30", "yesterday", "2026-03", "0", "-1", "1772442720.5", "null", ""])
def test_other_dates_are_refused(client: APIClient, value: str) -> None:
    for name in ("since", "until", "as_of", "known_at"):
        answer = client.get(f"/v1/memories?user_id=ana&{name}={value}")
        assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (422, name)
    assert client.post("/v1/memories/search", {"user_id": "ana", "query": "x", "until": value}).status_code == 422


@pytest.mark.parametrize(
    ("path", "body", "values"),
    [
        ("/v1/memories/search", {"user_id": "ana", "query": "x", "types": ["dream"]}, MemoryType),
        ("/v1/memories/search", {"user_id": "ana", "query": "x", "stakes": "all"}, Stakes),
        ("/v1/keys", {"name": "k", "scopes": ["read", "fly"]}, Scope),
        ("/v1/memories", {"user_id": "ana", "memories": [{**MEMORY, "type": "dream"}]}, MemoryType),
        ("/v1/memories?user_id=ana&types=dream", None, MemoryType),
    ],
)
def test_an_unknown_value_comes_with_those_that_are_allowed(
    client_of: MakeClient, project: Project, path: str, body: Any, values: Any
) -> None:
    client = client_of(project, Scope.ADMIN)
    answer = client.post(path, body) if body else client.get(path)
    assert answer.status_code == 422
    assert ", ".join(values) in answer.json()["errors"][0]["message"]
