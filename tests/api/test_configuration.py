"""The settings of a project over HTTP: read, tried as a draft, activated; what is invalid changes nothing."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.tenants.models import Project
from apps.traces.models import ConfigurationVersion
from tests.worker.worker_helper import Person

URL = "/v1/configuration"


def test_a_setting_is_changed_and_holds_from_then_on(admin: APIClient, client: APIClient) -> None:
    read = admin.get(URL).json()
    assert (read["version"], read["is_active"], read["settings"]["sharing"]["memory_sharing"]) == (1, True, "shared")

    made = admin.patch(URL, {"version": 1, "settings": {"sharing": {"memory_sharing": "by_agent"}}}).json()

    assert (made["version"], made["settings"]["sharing"]["memory_sharing"]) == (2, "by_agent")
    assert client.get("/v1/keys/current").json()["memory_sharing"] == "by_agent"
    former = admin.get(f"{URL}?version=1").json()
    assert (former["is_active"], former["settings"]) == (False, read["settings"])


def test_rules_and_redaction_are_settings(admin: APIClient, client: APIClient) -> None:
    rules = admin.get(URL).json()["settings"]["pre_filter"]["rules"]
    drop = {"name": "weather", "reason": "pattern", "pattern": "weather"}
    changed = {"pre_filter": {"rules": [*rules, drop]}, "redaction": {"email": "mask"}}
    assert admin.patch(URL, {"version": 1, "settings": changed}).status_code == 200

    said = ["How is the weather today?", "My mail is ana@example.com."]
    turns = [{"role": "user", "content": text} for text in said]
    accepted = client.post("/v1/turns", {"user_id": "ana", "session_id": "s", "turns": turns}).json()

    trace = client.get(f"/v1/traces/{accepted['trace_id']}").json()
    assert [turn["rejected_by"] for turn in trace["turns"]] == ["weather", ""]
    assert "ana@example.com" not in trace["turns"][1]["content"]


def test_a_draft_is_tried_before_it_is_active(admin: APIClient, project: Project) -> None:
    ana = Person(project)
    ana.says("I live in Lisbon.")
    ana.is_worked_for()
    change = {"version": 1, "settings": {"extraction": {"max_per_turn": 1}}, "note": "fewer", "draft": True}
    draft = admin.patch(URL, change).json()
    assert (draft["version"], draft["is_active"], draft["activated_at"], draft["note"]) == (2, False, None, "fewer")
    assert admin.get(URL).json()["version"] == 1
    assert admin.post("/v1/replays", {"version": 2}).status_code == 201

    assert admin.post(f"{URL}/activate", {"draft": 2, "version": 2}).status_code == 409
    active = admin.post(f"{URL}/activate", {"draft": 2, "version": 1}).json()

    assert (active["version"], active["is_active"]) == (2, True)
    assert admin.get(URL).json() == active


@pytest.mark.parametrize(
    ("settings", "pointer"),
    [
        ({"extraction": {"max_per_turn": 0}}, "/settings/extraction/max_per_turn"),
        ({"extraction": {"colour": "red"}}, "/settings/extraction/colour"),
        ({"sharing": {"memory_sharing": {"all": True}}}, "/settings/sharing/memory_sharing/all"),
        ({"sharing": "by_agent"}, "/settings/sharing"),
        ({"extraction": {"model": "nobody:nothing"}}, "/settings/extraction/model"),
        ({}, "/settings"),
    ],
)
def test_an_invalid_value_is_named_and_changes_nothing(admin: APIClient, settings: Any, pointer: str) -> None:
    answer = admin.patch(URL, {"version": 1, "settings": settings})

    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)
    assert ConfigurationVersion.objects.count() == 1


def test_another_version_than_the_caller_has_read_is_a_conflict(admin: APIClient) -> None:
    change = {"version": 1, "settings": {"extraction": {"max_per_turn": 1}}}
    assert admin.patch(URL, change).status_code == 200
    assert admin.patch(URL, change).status_code == 409
    assert admin.get(f"{URL}?version=9").status_code == 404
