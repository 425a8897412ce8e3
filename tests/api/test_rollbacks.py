"""/v1/rollbacks: what an agent is told before, once traces are taken back, and after the undo."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.memories.models import Memory, Rollback
from apps.pipeline.core.enums import Scope
from apps.tenants.models import ApiKey, Project
from tests.conftest import MakeClient


def say(client: APIClient, content: str, *, day: int, session: str = "monday", user: str = "ana") -> str:
    turn = {"role": "user", "content": content, "occurred_at": f"2026-03-{day:02}T09:00:00Z"}
    body = {"user_id": user, "session_id": session, "mode": "sync", "turns": [turn]}
    answer = client.post("/v1/turns", body)
    assert answer.status_code == 200, answer.content
    return str(answer.json()["trace_id"])


def told(client: APIClient) -> str:
    """Return what an agent is told before it answers."""
    answer = client.post("/v1/context", {"user_id": "ana", "query": "Where does the user live?"})
    return str(answer.json()["context"])


def roll_back(admin: APIClient, selection: dict[str, Any], **more: Any) -> Any:
    return admin.post("/v1/rollbacks", {"selection": selection, "dry_run": False, **more})


def test_an_agent_is_told_what_was_true_before(client: APIClient, admin: APIClient) -> None:
    say(client, "I live in Lisbon.", day=2)
    before = told(client)
    trace = say(client, "I moved to Porto. My sister is called Lena.", day=3)
    after = told(client)
    assert "Porto" in after
    assert "Lisbon" in before

    preview = admin.post("/v1/rollbacks", {"selection": {"trace_ids": [trace]}})
    assert preview.status_code == 200, preview.content
    assert told(client) == after
    becomes = {each["content"]: each["becomes"] for each in preview.json()["memories"]}
    assert becomes["User lives in Porto."] == "retracted"
    assert becomes["User lives in Lisbon."] == "active"

    answer = roll_back(admin, {"trace_ids": [trace]}, note="a test account")
    assert answer.status_code == 201, answer.content
    assert answer.json()["status"] == "done"
    assert answer.json()["counts"]["memories_retracted"] == preview.json()["counts"]["memories_retracted"]
    assert told(client) == before
    read = client.get(f"/v1/traces/{trace}").json()
    assert (read["status"], read["rollback_id"]) == ("rolled_back", answer.json()["id"])

    undone = admin.post(f"/v1/rollbacks/{answer.json()['id']}/undo")
    assert (undone.status_code, undone.json()["status"]) == (200, "undone")
    assert told(client) == after
    assert client.get(f"/v1/traces/{trace}").json()["rollback_id"] is None


def test_what_was_edited_is_listed_and_forced_one_by_one(trusted: APIClient, admin: APIClient) -> None:
    trace = say(trusted, "I live in Lisbon and I like green tea.", day=2)
    memory = Memory.objects.get(content="User lives in Lisbon.")
    trusted.patch(f"/v1/memories/{memory.shown_id}", {"importance": 0.9})

    first = roll_back(admin, {"trace_ids": [trace]}).json()
    (left,) = first["left_alone"]
    assert (left["memory_id"], left["reason"], left["can_be_forced"]) == (memory.shown_id, "edited", True)
    assert "Lisbon" in told(trusted)
    assert "green tea" not in told(trusted)

    admin.post(f"/v1/rollbacks/{first['id']}/undo")
    roll_back(admin, {"trace_ids": [trace]}, force=[memory.shown_id])
    assert "Lisbon" not in told(trusted)


@pytest.mark.parametrize("by", ["user", "session", "key", "version", "time"])
def test_traces_are_chosen(client: APIClient, admin: APIClient, project: Project, by: str) -> None:
    say(client, "I live in Lisbon.", day=2, session="friday", user="bea")
    say(client, "I live in Lisbon.", day=2)
    key = ApiKey.objects.filter(project=project).earliest("created_at")
    selections: dict[str, dict[str, Any]] = {
        "user": {"user_id": "ana"},
        "session": {"user_id": "ana", "session_id": "monday"},
        "key": {"key_id": f"key_{key.id.hex}", "user_id": "ana"},
        "version": {"version": 1, "user_id": "ana"},
        "time": {"since": "2020-01-01T00:00:00Z", "until": "2400-01-01T00:00:00Z", "user_id": "ana"},
    }

    answer = roll_back(admin, selections[by])

    assert answer.status_code == 201, answer.content
    assert answer.json()["counts"]["traces"] == 1
    assert list(Memory.objects.live().values_list("end_user__external_id", flat=True)) == ["bea"]


@pytest.mark.parametrize(
    ("selection", "pointer"),
    [
        ({}, "/selection"),
        ({"user_id": "nobody"}, "/selection/user_id"),
        ({"session_id": "monday"}, "/selection/user_id"),
        ({"version": 99}, "/selection/version"),
        ({"trace_ids": ["x"]}, "/selection/trace_ids/0"),
        ({"key_id": "key_01a1f8c0283075afaf9f7de008d31f99"}, "/selection/key_id"),
        ({"since": "2026-05-02T00:00:00Z", "until": "2026-05-01T00:00:00Z"}, "/selection/until"),
    ],
)
def test_a_selection_that_names_nothing_is_refused(admin: APIClient, selection: dict[str, Any], pointer: str) -> None:
    answer = roll_back(admin, selection)

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert not Rollback.objects.exists()


def test_rollbacks_are_of_their_project(
    client: APIClient, admin: APIClient, client_of: MakeClient, other_project: Project
) -> None:
    trace = say(client, "I live in Lisbon.", day=2)
    stranger = client_of(other_project, Scope.ADMIN)
    assert roll_back(stranger, {"trace_ids": [trace]}).json()["counts"] == {"users": 0}
    assert "Lisbon" in told(client)
    memory = Memory.objects.get().shown_id
    assert roll_back(stranger, {"trace_ids": [trace]}, force=[memory]).status_code == 404

    own = roll_back(admin, {"trace_ids": [trace]}).json()["id"]
    assert stranger.get(f"/v1/rollbacks/{own}").status_code == 404
    assert stranger.post(f"/v1/rollbacks/{own}/undo").status_code == 404
    assert [each["id"] for each in admin.get("/v1/rollbacks").json()["results"]] == [own]
    assert admin.get(f"/v1/rollbacks/{own}").json()["note"] == ""


def test_the_same_key_rolls_back_once(client: APIClient, admin: APIClient) -> None:
    trace = say(client, "I live in Lisbon.", day=2)
    body = {"selection": {"trace_ids": [trace]}, "dry_run": False}

    first, again = (admin.post("/v1/rollbacks", body, HTTP_IDEMPOTENCY_KEY="once") for _ in range(2))

    assert first.json() == again.json()
    assert Rollback.objects.count() == 1
