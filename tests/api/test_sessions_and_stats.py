"""POST /v1/sessions/{id}/end and GET /v1/stats."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client as DjangoClient
from rest_framework.test import APIClient

from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.model_calls import AnswerKind
from apps.tenants.models import Project
from apps.traces.tallies import tally
from benchmarks.model_server import ModelServer, Reply
from tests.conftest import MakeClient


def test_a_session_ends(client: APIClient, conversation: dict[str, Any], model_server: ModelServer) -> None:
    client.post("/v1/turns", {**conversation, "mode": "sync"})

    answer = client.post("/v1/sessions/monday/end", {"user_id": "ana"})
    again = client.post("/v1/sessions/monday/end", {"user_id": "ana"})

    assert (answer.status_code, answer.json()["status"]) == (202, "queued")
    assert again.json() == answer.json()
    assert answer["X-Trace-Id"] == answer.json()["trace_id"]
    assert client.get(f"/v1/traces/{answer.json()['trace_id']}").json()["session_id"] == "monday"


def test_without_a_model_there_is_nothing_to_look_back_with(client: APIClient, conversation: dict[str, Any]) -> None:
    client.post("/v1/turns", {**conversation, "session_id": "a/b c"})

    answer = client.post("/v1/sessions/a%2Fb%20c/end", {"user_id": "ana"})

    assert (answer.status_code, answer.json()) == (200, {"trace_id": None, "status": "done"})


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/sessions/tuesday/end", {"user_id": "ana"}, 404),
        ("/v1/sessions/monday/end", {"user_id": "bob"}, 404),
        ("/v1/sessions/monday/end", {}, 422),
        ("/v1/sessions/monday/end", {"user_id": 5}, 422),
        ("/v1/sessions/mon%00day/end", {"user_id": "ana"}, 422),
    ],
)
def test_sessions_that_are_not_there(
    client: APIClient, conversation: dict[str, Any], path: str, body: dict[str, Any], status: int
) -> None:
    client.post("/v1/turns", conversation)
    assert client.post(path, body).status_code == status


def test_sessions_of_another_project_are_not_there(
    client: APIClient, conversation: dict[str, Any], client_of: MakeClient, other_project: Project
) -> None:
    client.post("/v1/turns", conversation)
    stranger = client_of(other_project, Scope.WRITE)
    assert stranger.post("/v1/sessions/monday/end", {"user_id": "ana"}).status_code == 404


def test_stats_sum_the_funnel_and_its_cost(
    client: APIClient, conversation: dict[str, Any], model_server: ModelServer
) -> None:
    trace = client.post("/v1/turns", {**conversation, "mode": "sync"}).json()["trace_id"]
    client.post("/v1/turns", {**conversation, "turns": [{"role": "user", "content": "thanks!"}]})
    (call,) = client.get(f"/v1/traces/{trace}").json()["model_calls"]

    stats = client.get("/v1/stats").json()

    (day,) = stats["days"]
    assert (day["traces"], day["rejected"], day["turns"], day["stored"]) == (2, 1, 2, 1)
    assert (day["model_calls"], day["model_errors"]) == (1, 0)
    tokens = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")
    assert [day[name] for name in tokens] == [call[name] for name in tokens]
    assert float(stats["cost_usd"]) == float(day["cost_usd"]) == float(call["cost_usd"]) > 0


def test_answers_of_little_use_are_counted_apart_by_project_and_day(
    client: APIClient, conversation: dict[str, Any], model_server: ModelServer, project: Project
) -> None:
    invalid = '{"memories": [{"type": "mood"}, 5]}'
    answers = iter(
        [
            Reply(text='{"memories": []}'),
            Reply(text=invalid),
            Reply(text='{"memories": [{"type": "mood"}, {"type": "fa', stop="truncated"),
            Reply(text="I'd rather not.", stop="refused"),
            *(Reply(text="Nothing to report."),) * 4,
        ]
    )
    model_server.answering = lambda _: next(answers)
    for number in range(5):
        turns = [{"role": "user", "content": f"I have lived in Lisbon for {number + 2} years."}]
        client.post("/v1/turns", {**conversation, "turns": turns, "mode": "sync"})
    kinds = ("empty_answers", "truncated_answers", "unparsable_answers", "refused_answers", "invalid_objects")

    (day,) = client.get("/v1/stats").json()["days"]
    assert [day[name] for name in kinds] == [1, 1, 4, 1, 3]
    assert (day["model_calls"], day["model_errors"], day["extraction_failed"]) == (8, 5, 2)

    tally(settled_after=timedelta())
    metrics = metrics_of(DjangoClient().get("/metrics").content.decode())
    whose = f'project="{show(Prefix.PROJECT, project.id)}"'
    answers = {kind: metrics[f'memplatform_model_answers_today{{answer="{kind}",{whose}}}'] for kind in AnswerKind}
    assert answers == {"memories": 1, "empty": 1, "truncated": 1, "unparsable": 4, "refused": 1}
    assert metrics[f"memplatform_model_invalid_objects_today{{{whose}}}"] == 3
    assert metrics[f"memplatform_model_calls_today{{{whose}}}"] == 8


def metrics_of(text: str) -> dict[str, float]:
    lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


def test_stats_of_another_project_are_not_seen(
    client: APIClient, conversation: dict[str, Any], client_of: MakeClient, other_project: Project
) -> None:
    client.post("/v1/turns", conversation)
    assert client_of(other_project, Scope.READ).get("/v1/stats").json()["days"] == []


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("since=2026-01-01&until=2026-01-31", 200),
        ("since=2026-02-01&until=2026-01-31", 422),
        ("since=2020-01-01&until=2026-01-31", 422),
        ("since=yesterday", 422),
        ("until=0001-01-01", 200),
        ("until=9999-12-31", 200),
        ("day=1", 422),
    ],
)
def test_days_that_can_and_can_not_be_asked_for(client: APIClient, query: str, status: int) -> None:
    assert client.get(f"/v1/stats?{query}").status_code == status
