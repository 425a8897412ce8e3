"""Health, documentation, and errors that don't reach a view."""

import json
import re
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from psycopg.errors import DiskFull
from rest_framework.test import APIClient

from apps.alerts import verdict
from apps.api.problems import STATUS_AND_TITLE, Code
from apps.outbox import outages
from apps.outbox.models import OutboxRow, WorkerHeartbeat
from apps.pipeline.core.enums import WorkState
from apps.pipeline.core.identifiers import new_id
from memplatform.settings import BASE_DIR
from tests.instance import free_port


@pytest.fixture
def broken_database() -> Iterator[None]:
    def refuse(*_: Any) -> None:
        raise OperationalError("the server closed the connection")

    with connection.execute_wrapper(refuse):
        yield


def test_alive_without_a_database() -> None:
    answer = Client().get("/healthz")

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_ready(client: APIClient, conversation: dict[str, Any]) -> None:
    WorkerHeartbeat.objects.create(worker=new_id(), host="here", pid=1, seen_at=timezone.now())
    assert client.get("/readyz").json() == {
        "status": "ok",
        "database": True,
        "migrations": True,
        "writable": True,
        "oldest_queued_seconds": 0.0,
        "vector_lag_seconds": 0.0,
        "dead": 0,
        "workers_alive": 1,
        "scheduler_seconds": None,
        "paused_models": [],
        "problems": [],
    }

    client.post("/v1/turns", conversation)
    OutboxRow.objects.update(created_at="2026-01-01T00:00:00Z")
    late = client.get("/readyz")
    assert (late.status_code, late.json()["status"]) == (200, "degraded")
    assert late.json()["oldest_queued_seconds"] > 60

    OutboxRow.objects.update(state=WorkState.DEAD)
    dead = client.get("/readyz").json()
    assert (dead["status"], dead["dead"], dead["oldest_queued_seconds"]) == ("degraded", 1, 0.0)


@pytest.mark.django_db
@pytest.mark.usefixtures("broken_database")
def test_without_a_database() -> None:
    ready = Client().get("/readyz")
    assert (ready.status_code, ready.json()["database"]) == (503, False)

    answer = APIClient(HTTP_AUTHORIZATION=f"Bearer mp_{'0' * 12}_{'x' * 43}").get("/v1/memories?user_id=ana")
    assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")
    assert "closed the connection" not in answer.content.decode()

    page = Client(raise_request_exception=False).get("/console/login/")
    assert (page.status_code, "The database does not answer" in page.content.decode()) == (503, True)


@pytest.mark.django_db(transaction=True)
def test_a_read_only_database(client: APIClient, conversation: dict[str, Any]) -> None:
    """As after a failover to a standby: reads are answered, writes are refused in a way that callers repeat."""
    with connection.cursor() as cursor:
        cursor.execute("set default_transaction_read_only = on")
    try:
        ready, refused = Client().get("/readyz"), client.post("/v1/turns", conversation)
        assert (ready.status_code, ready.json()["database"], ready.json()["writable"]) == (503, True, False)
        assert (refused.status_code, refused.json()["code"]) == (503, "read_only")
        assert ready.headers["Retry-After"] == refused.headers["Retry-After"] == "10"
    finally:
        connection.close()
        forget()


@pytest.mark.django_db
def test_a_full_disk_is_reported_while_it_is_recent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict, "LEAST_FREE_BYTES", 2**70)
    assert Client().get("/readyz").status_code == 503
    monkeypatch.setattr(verdict, "LEAST_FREE_BYTES", 0)
    assert Client().get("/readyz").status_code == 200
    full = OperationalError("could not extend file")
    full.__cause__ = DiskFull()
    outages.note_refusal(full)
    assert Client().get("/readyz").json()["writable"] is False
    forget()
    assert Client().get("/readyz").json()["writable"] is True


def forget() -> None:
    outages._refused_at.clear()


def test_openapi_is_valid_and_complete() -> None:
    said, schema = StringIO(), StringIO()

    call_command("spectacular", "--validate", "--fail-on-warn", "--format", "openapi-json", stdout=schema, stderr=said)

    text = schema.getvalue()
    assert '"/v1/turns"' in text
    assert "application/problem+json" in text
    assert "Idempotency-Key" in text
    assert not list(_indented(json.loads(text))), "shown as code"


def _indented(schema: Any) -> Iterator[str]:
    """Yield the descriptions that have a paragraph with the indentation of a docstring."""
    for key, value in schema.items() if isinstance(schema, dict) else enumerate(schema):
        if key == "description" and isinstance(value, str) and re.search(r"\n\n {4}", value):
            yield value
        if isinstance(value, dict | list):
            yield from _indented(value)


def test_documentation_pages_need_nothing_from_elsewhere(db: None) -> None:
    page = Client().get("/v1/docs")

    assert page.status_code == 200
    assert b"cdn" not in page.content.lower()
    assert Client().get("/v1/schema").status_code == 200
    scripts = re.findall(rb'src="(/[^"]+\.js)"', page.content)
    assert scripts
    for script in scripts:
        assert Client().get(script.decode()).status_code == 200


def test_the_openapi_document_is_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Building and writing it takes seconds, and nobody needs a key: each request would cost them."""
    forms = {"yaml": "application/vnd.oai.openapi; charset=utf-8", "json": "application/vnd.oai.openapi+json"}
    first = {form: Client().get("/v1/schema", {"format": form}) for form in forms}
    for each in (SchemaGenerator, OpenApiYamlRenderer, OpenApiJsonRenderer):
        monkeypatch.setattr(each, "get_schema" if each is SchemaGenerator else "render", lambda *_, **__: 1 / 0)

    for form, media_type in forms.items():
        again = Client().get("/v1/schema", {"format": form, "version": "text of the caller"})
        assert (again.status_code, again["Content-Type"]) == (200, media_type)
        assert again.content == first[form].content
    assert yaml.safe_load(first["yaml"].content) == first["json"].json()
    assert Client().get("/v1/schema", headers={"accept": "application/json"})["Content-Type"] == "application/json"
    for refused in (Client().get("/v1/schema", headers={"accept": "text/csv"}), Client().post("/v1/schema")):
        assert refused["Content-Type"] == "application/problem+json"
        assert refused.json()["status"] == refused.status_code


@pytest.mark.parametrize("path", ["/v1/", "/v1/nothing", "/v1/turns/a/b", "/v1/memories/a/b/c"])
def test_unknown_addresses(path: str) -> None:
    answer = Client().get(path)

    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")
    assert answer.json()["code"] == "not_found"


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/v1/entities/x/0", "no such URL; the one that ends with a slash is known"),
        ("/v3/memories", "no such URL; the one that ends with a slash is known"),
        ("/v2/memories/x", "no such URL"),
        ("/v1/memories/mem_123", "'mem_123' is no mem_ identifier"),
    ],
)
def test_what_is_wrong_with_an_address_is_told(client: APIClient, path: str, detail: str) -> None:
    answer = client.get(path)

    assert (answer.status_code, answer.json()["code"], answer.json()["detail"]) == (404, "not_found", detail)


def test_a_trailing_slash_is_no_error(client: APIClient) -> None:
    turns = {"user_id": "ana", "session_id": "s", "turns": [{"role": "user", "content": "I live in Lisbon."}]}
    assert client.post("/v1/turns/", turns).status_code == 202
    assert client.post("/v1/memories/search/", {"user_id": "ana", "query": "Lisbon"}).status_code == 200
    assert client.get("/v1/traces/?user_id=ana").json() == client.get("/v1/traces?user_id=ana").json()


def test_unknown_pages_stay_pages() -> None:
    assert Client().get("/nothing")["Content-Type"].startswith("text/html")


def test_unknown_hosts() -> None:
    answer = Client().get("/v1/nothing", headers={"host": "evil.example"})

    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")


def test_other_methods(client: APIClient) -> None:
    answer = client.put("/v1/turns", {})

    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
    assert "POST" in answer["Allow"]


@pytest.mark.parametrize("accepted", ["*/*", "application/json", "application/*", "text/html, application/json;q=0.5"])
@pytest.mark.parametrize("query", ["", "?user_id=ana"])
def test_json_will_do(client: APIClient, accepted: str, query: str) -> None:
    answer = client.get(f"/v1/memories{query}", headers={"accept": accepted})

    assert answer.status_code == (200 if query else 422)
    assert answer["Content-Type"] == ("application/json" if query else "application/problem+json")
    assert answer.json()


def test_other_formats(client: APIClient) -> None:
    answer = client.get("/v1/memories?user_id=ana", headers={"accept": "text/html"})

    assert (answer.status_code, answer.json()["code"]) == (406, "not_acceptable")


def test_an_internal_error_is_reported_without_details(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.health.api.HealthView.get", lambda *_: 1 / 0)
    client = Client(raise_request_exception=False)

    answer = client.get("/healthz")

    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert b"division" not in answer.content


def test_every_code_is_explained() -> None:
    page = (BASE_DIR / "docs" / "errors.md").read_text()

    for code in Code:
        assert f"| `{code}` | {STATUS_AND_TITLE[code][0]} |" in page


def test_readiness_names_what_is_wrong(client: APIClient, conversation: dict[str, Any], settings: Any) -> None:
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}"
    client.post("/v1/turns", conversation)
    OutboxRow.objects.update(created_at="2026-01-01T00:00:00Z")
    told = client.get("/readyz").json()["problems"]
    assert [each["code"] for each in told] == ["redis_unavailable", "no_worker"]
    assert all(each["detail"] for each in told)
    assert 'memplatform_problem{code="no_worker"} 1.0' in client.get("/metrics").content.decode()
    assert 'memplatform_problem{code="dead_work"} 0.0' in client.get("/metrics").content.decode()
