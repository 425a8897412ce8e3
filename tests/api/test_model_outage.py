"""What callers see during an outage of the model, and how they retry failed work."""

from datetime import timedelta
from typing import Any

import anthropic  # noqa: F401  # so that a request does not spend its waiting time on the import
import pytest
from rest_framework.test import APIClient

from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import Scope, WorkState
from apps.tenants.models import Project
from apps.traces.models import Trace
from benchmarks.model_server import ModelServer, Reply
from tests.conftest import MakeClient
from tests.outbox.outbox_factories import let_pass

pytestmark = pytest.mark.django_db
AT_ONCE = {"retry-after-ms": "1"}


@pytest.fixture
def down(model_server: ModelServer) -> ModelServer:
    model_server.answering = lambda _: Reply(status=503, headers=AT_ONCE, error="overloaded")
    return model_server


def test_sync_answers_202_and_the_trace_says_why_it_waits(
    client: APIClient, conversation: dict[str, Any], down: ModelServer, settings: Any
) -> None:
    settings.SYNC_WAIT_SECONDS, settings.MODEL_PAUSE_SECONDS = 2, 30.0
    down.answering = lambda _: Reply(status=503, error="overloaded", headers={"retry-after": "30"})
    answer = client.post("/v1/turns", {**conversation, "mode": "sync"})
    assert (answer.status_code, answer.json()["status"]) == (202, "queued")
    later = client.post("/v1/turns", {**conversation, "session_id": "b"}).json()
    for trace_id in (answer.json()["trace_id"], later["trace_id"]):
        OutboxRow.objects.update(attempts=0)
        trace = client.get(f"/v1/traces/{trace_id}").json()
        assert trace["status"] == "queued"
    first = client.get(f"/v1/traces/{answer.json()['trace_id']}").json()
    assert "has not answered since" in first["error"]
    assert "overloaded" in first["error"]


def test_a_waiting_trace_carries_reason_and_next_try(
    client: APIClient, conversation: dict[str, Any], down: ModelServer, settings: Any
) -> None:
    settings.SYNC_WAIT_SECONDS = 2
    down.answering = lambda _: Reply(status=429, headers={"retry-after": "60"})
    trace_id = client.post("/v1/turns", {**conversation, "mode": "sync"}).json()["trace_id"]
    waiting = client.get(f"/v1/traces/{trace_id}").json()["waiting"]
    assert "anthropic:claude-haiku-4-5 has not answered since" in waiting["reason"]
    assert waiting["since"] < waiting["next_try_at"]


def test_a_trace_that_is_done_waits_for_nothing(client: APIClient, conversation: dict[str, Any]) -> None:
    trace_id = client.post("/v1/turns", {**conversation, "mode": "sync"}).json()["trace_id"]
    assert client.get(f"/v1/traces/{trace_id}").json()["waiting"] is None


def test_sync_says_why_nothing_was_stored(
    client: APIClient, conversation: dict[str, Any], model_server: ModelServer
) -> None:
    model_server.answering = lambda _: Reply(status=400, error="no such parameter")
    dead = client.post("/v1/turns", {**conversation, "mode": "sync"})
    assert (dead.status_code, dead.json()["status"]) == (200, "dead")
    assert "no such parameter" in dead.json()["error"]
    model_server.answering = lambda _: Reply(text="no")
    failed = client.post("/v1/turns", {**conversation, "session_id": "b", "mode": "sync"}).json()
    assert (failed["status"], failed["error"]) == ("extraction_failed", "the answer was unparsable")


def test_sync_after_the_longest_outage_says_that_it_was_given_up(
    client: APIClient, conversation: dict[str, Any], down: ModelServer, settings: Any
) -> None:
    settings.SYNC_WAIT_SECONDS = 2
    client.post("/v1/turns", {**conversation, "mode": "sync"})
    let_pass(timedelta(days=3, minutes=1))
    body = {**conversation, "session_id": "b", "mode": "sync"}
    client.post("/v1/turns", {**body, "turns": [{"role": "user", "content": "I work as a nurse in Porto."}]})
    first = Trace.objects.order_by("created_at").first()
    trace = client.get(f"/v1/traces/{first.shown_id}").json()
    assert (trace["status"], trace["error"].endswith("given up after 3 days")) == ("dead", True)


def test_failed_work_runs_again(admin: APIClient, client: APIClient, conversation: dict[str, Any]) -> None:
    trace_id = client.post("/v1/turns", conversation).json()["trace_id"]
    OutboxRow.objects.update(state=WorkState.DEAD, last_error="connection refused")
    Trace.objects.update(status="dead")
    assert client.post("/v1/work/retry", {}).status_code == 403
    assert admin.post("/v1/work/retry", {"error": "another"}).json() == {"retried": 0}
    assert admin.post("/v1/work/retry", {"user_id": "nobody"}).json() == {"retried": 0}
    assert admin.post("/v1/work/retry", {"statuses": ["extraction_failed"]}).json() == {"retried": 0}
    assert admin.post("/v1/work/retry", {"user_id": "ana", "error": "refused"}).json() == {"retried": 1}
    assert client.get(f"/v1/traces/{trace_id}").json()["status"] == "queued"


@pytest.mark.parametrize("body", [{"status": []}, {"status": ["done"]}, {"error": "\x00"}, {"more": 1}])
def test_what_can_not_be_retried(client_of: MakeClient, project: Project, body: dict[str, Any]) -> None:
    answer = client_of(project, Scope.ADMIN).post("/v1/work/retry", body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
