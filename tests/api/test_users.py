"""Listing, exporting and erasing end users over REST, and deleting sessions and turns."""

import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.memories.models import LedgerEntry, Memory
from apps.pipeline.core.enums import Scope
from apps.tenants.models import EndUser, Project
from apps.traces.models import IdempotentRequest, ModelCall, Session, Trace, Turn
from tests.conftest import MakeClient
from tests.streamed import streamed

pytestmark = pytest.mark.django_db


def said(text: str, *, user: str = "ana", session: str = "monday", **more: Any) -> dict[str, Any]:
    turns = [{"role": "user", "content": text, **more}]
    return {"user_id": user, "session_id": session, "turns": turns, "mode": "sync"}


@pytest.fixture
def admin(admin: APIClient) -> APIClient:
    admin.post("/v1/turns", said("I live in Lisbon."))
    admin.post("/v1/turns", said("My name is Rui.", user="rui/1"))
    return admin


def test_users_are_listed_with_counts_page_by_page(admin: APIClient) -> None:
    first = admin.get("/v1/users?limit=1").json()
    second = admin.get(first["next"]).json()

    assert [user["user_id"] for page in (first, second) for user in page["results"]] == ["ana", "rui/1"]
    assert {name: first["results"][0][name] for name in ("memories", "sessions", "turns")} == {
        "memories": 1,
        "sessions": 1,
        "turns": 1,
    }


def test_a_user_is_erased_with_a_receipt(admin: APIClient, project: Project) -> None:
    answer = admin.delete("/v1/users/rui/1")

    assert answer.status_code == 200
    receipt = answer.json()
    assert (receipt["status"], receipt["deleted"]["turns"], receipt["deleted"]["memories"]) == ("done", 1, 1)
    assert admin.get(f"/v1/erasures/{receipt['id']}").json() == receipt
    assert [user["user_id"] for user in admin.get("/v1/users").json()["results"]] == ["ana"]
    assert admin.delete("/v1/users/rui/1").status_code == 404
    assert admin.get("/v1/users/rui/1/export").status_code == 404
    assert LedgerEntry.objects.filter(project=project, verb="erased").get().actor.startswith("key:")


def test_a_user_whose_erasure_runs_is_refused(admin: APIClient) -> None:
    EndUser.objects.filter(external_id="ana").update(erasing_since="2026-01-01T00:00:00Z")
    memory = {"user_id": "ana", "memories": [{"type": "fact", "content": "Ana is tall."}]}

    for path, body in (("turns", said("I live in Porto.")), ("memories", memory)):
        for headers in ({}, {"Idempotency-Key": path}):
            answer = admin.post(f"/v1/{path}", body, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert not IdempotentRequest.objects.exists()


def test_stored_answers_are_erased(admin: APIClient) -> None:
    admin.post("/v1/context", {"user_id": "ana", "query": "where"}, headers={"Idempotency-Key": "a"})
    admin.post("/v1/context", {"user_id": "rui/1", "query": "who"}, headers={"Idempotency-Key": "b"})

    admin.delete("/v1/users/ana")

    assert IdempotentRequest.objects.get().key == "b"


def test_an_export_has_a_line_for_each_row(admin: APIClient) -> None:
    answer = admin.get("/v1/users/rui/1/export")

    assert answer["Content-Type"] == "application/jsonl"
    lines = [json.loads(line) for line in streamed(answer).splitlines()]
    assert (lines[0]["user_id"], lines[-1]) == ("rui/1", {"kind": "end"})
    kinds = {line["kind"] for line in lines}
    assert {"memories", "turns", "traces", "spans", "sessions", "entities", "memory_origins", "work"} <= kinds
    assert {line["row_kind"] for line in lines if line["kind"] == "work"} >= {"index_memory"}
    assert [line["content"] for line in lines if line["kind"] == "turns"] == ["My name is Rui."]
    assert "Lisbon" not in str(lines)
    assert LedgerEntry.objects.filter(verb="exported").count() == 1


def test_another_project_finds_nothing(admin: APIClient, other_project: Project, client_of: MakeClient) -> None:
    stranger = client_of(other_project, Scope.ADMIN)
    turn = Turn.objects.first()

    assert stranger.get("/v1/users").json()["results"] == []
    assert stranger.delete("/v1/users/ana").status_code == 404
    assert stranger.get("/v1/users/ana/export").status_code == 404
    assert stranger.delete("/v1/sessions/monday?user_id=ana").status_code == 404
    assert stranger.delete(f"/v1/turns/{turn.shown_id}").status_code == 404


def test_a_session_goes_with_what_was_said_only_there(admin: APIClient) -> None:
    admin.post("/v1/turns", said("I live in Lisbon. I am allergic to nuts.", session="tuesday"))
    assert Memory.objects.filter(end_user__external_id="ana").count() == 2

    answer = admin.delete("/v1/sessions/tuesday?user_id=ana")

    assert answer.json() == {"turns": 1, "memories": 1, "items": 0}
    left = Memory.objects.get(end_user__external_id="ana")
    assert (left.object_text, left.evidence, left.context) == ("Lisbon", "I live in Lisbon.", "")
    assert list(Session.objects.filter(end_user__external_id="ana").values_list("external_id", flat=True)) == ["monday"]
    assert Trace.objects.filter(end_user__external_id="ana").count() == 1
    assert admin.delete("/v1/sessions/tuesday?user_id=ana").status_code == 404
    assert admin.post("/v1/turns", said("I live in Porto now.", session="tuesday")).status_code == 200


def test_a_turn_goes_with_what_only_it_said(admin: APIClient) -> None:
    body = said("I am allergic to nuts.", session="tuesday")
    body["turns"].append({"role": "user", "content": "My sister is called Marta."})
    trace = admin.post("/v1/turns", body).json()["trace_id"]
    ModelCall.objects.create(
        end_user=EndUser.objects.get(external_id="ana"),
        trace=Trace.objects.get(session__external_id="tuesday"),
        purpose="extract",
        request_hash="0",
        model="m",
        prompt_version="1",
        answer="allergic to nuts",
    )
    turn = Turn.objects.get(content__contains="nuts")

    answer = admin.delete(f"/v1/turns/{turn.shown_id}")

    assert answer.json() == {"turns": 1, "memories": 1, "items": 0}
    found = admin.get("/v1/memories?user_id=ana").content.decode()
    assert "nuts" not in found
    assert "Marta" in found
    assert "nuts" not in admin.get(f"/v1/traces/{trace}").content.decode()
    assert ModelCall.objects.get().answer == ""
    assert admin.post("/v1/turns", said("I live in Porto now.", session="tuesday")).status_code == 200
