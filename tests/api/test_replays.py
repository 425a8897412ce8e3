"""Replays over the REST interface."""

import csv
import io
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.projects.services import configure
from apps.tenants.models import Project
from apps.traces.policies import active_policy
from tests.streamed import streamed
from tests.tuning.replays.test_replay_user import stricter


@pytest.fixture
def admin(admin: APIClient, client: APIClient, conversation: dict[str, Any]) -> APIClient:
    client.post("/v1/turns", {**conversation, "mode": "sync"})
    return admin


def test_a_stricter_rule_is_tried_before_it_is_active(project: Project, admin: APIClient) -> None:
    version = configure(project_id=project.pk, policy=stricter(active_policy(project_id=project.pk), "nurse")).number
    made = admin.post("/v1/replays", {"version": version, "traces": {"user_id": "ana"}})
    assert (made.status_code, made.json()["status"], made.json()["traces_total"]) == (201, "estimated", 1)
    url = f"/v1/replays/{made.json()['id']}"

    started = admin.post(f"{url}/start").json()
    assert (started["status"], started["totals"]["turns_dropped"]) == ("done", 1)
    assert admin.get(url).json() == started
    assert [each["id"] for each in admin.get("/v1/replays").json()["results"]] == [started["id"]]

    (trace,) = admin.get(f"{url}/traces?statuses=different").json()["results"]
    assert (trace["user_id"], trace["diff"]["turns"][0]["after"]) == ("ana", "pattern:stricter")
    removed = {each["before_content"] for each in trace["diff"]["operations"] if each["operation"] == "AddMemory"}
    assert removed == {"User lives in Lisbon.", "User works as a nurse."}
    assert admin.get(f"{url}/traces?statuses=same").json()["results"] == []

    answer: Any = admin.get(f"{url}/changes.csv")
    rows = list(csv.DictReader(io.StringIO(streamed(answer).decode())))
    assert {row["before"] for row in rows if row["what"] == "AddMemory"} == removed
    answer = admin.get(f"{url}/changes.json")
    assert b'"pattern:stricter"' in streamed(answer)
    again = admin.post(f"{url}/start")
    assert (again.status_code, again.json()["code"]) == (409, "conflict")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"version": 99}, 404),
        ({"version": 0}, 422),
        ({"traces": {"user_id": "nobody"}}, 422),
        ({"traces": {"session_id": "monday"}}, 422),
        ({"traces": {"trace_ids": ["x"]}}, 422),
        ({"traces": {"sample": 0}}, 422),
        ({"live_calls": True}, 422),
        ({"everything": True}, 422),
    ],
)
def test_what_does_not_fit_is_refused(admin: APIClient, body: dict[str, Any], status: int) -> None:
    assert admin.post("/v1/replays", body).status_code == status
    assert admin.get("/v1/replays").json()["results"] == []
