"""Events over REST: the log is switched on by an admin, read on from a number, and followed as a stream."""

import json
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from rest_framework.test import APIClient

from apps.events.record import number_all_events
from apps.pipeline.core.enums import Scope
from apps.tenants.models import Project
from tests.conftest import MakeClient
from tests.worker.worker_helper import Person


def happened(project: Project, *sentences: str) -> None:
    ana = Person(project)
    for place, sentence in enumerate(sentences):
        ana.says(sentence, session=f"{sentence} {place}")
        ana.is_worked_for()
    number_all_events()


@pytest.fixture(autouse=True)
def _streams_end_at_once(settings: Any) -> None:
    settings.EVENT_STREAM_SECONDS = 0.0


def frames(answer: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return id and data of each event of a stream that ends."""

    async def all_of_it() -> str:
        return b"".join([part async for part in answer.streaming_content]).decode()

    parts = [each for each in async_to_sync(all_of_it)().split("\n\n") if each and not each.startswith(":")]
    lines = [dict(line.split(": ", 1) for line in part.splitlines()) for part in parts]
    return [(part["id"], json.loads(part["data"])) for part in lines]


@pytest.mark.parametrize("path", ["/v1/events", "/v1/events/stream"])
def test_a_project_records_no_events_until_an_admin_says_so(admin: APIClient, path: str) -> None:
    refused = admin.get(path)

    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")


def test_events_are_read_on_from_a_number(admin: APIClient, project: Project) -> None:
    assert admin.put("/v1/events/log", {"is_on": True}).json() == {"is_on": True, "last_number": 0}
    happened(project, "I live in Lisbon.", "I work as a nurse.")
    first = admin.get("/v1/events?limit=3").json()
    rest = admin.get(f"/v1/events?after={first['next_after']}").json()

    numbers = [each["number"] for each in first["results"] + rest["results"]]
    assert numbers == list(range(1, rest["last_number"] + 1))
    assert [len(first["results"]), first["next_after"]] == [3, 3]
    assert rest["next_after"] == rest["last_number"]
    nothing = admin.get(f"/v1/events?after={rest['next_after']}").json()
    assert (nothing["results"], nothing["next_after"]) == ([], rest["next_after"])
    assert "Lisbon" not in json.dumps(first)


def test_types_and_sentences_are_chosen(admin: APIClient, project: Project) -> None:
    admin.put("/v1/events/log", {"is_on": True})
    happened(project, "I live in Lisbon.")
    found = admin.get("/v1/events?types=memory.created&includes_content=true").json()

    assert {each["type"] for each in found["results"]} == {"memory.created"}
    assert "Lisbon" in found["results"][0]["data"]["content"]
    assert found["next_after"] == found["last_number"]


def test_a_stream_goes_on_where_its_caller_was(admin: APIClient, project: Project) -> None:
    admin.put("/v1/events/log", {"is_on": True})
    happened(project, "I live in Lisbon.", "I work as a nurse.")
    last = admin.get("/v1/events").json()["last_number"]

    assert frames(admin.get("/v1/events/stream")) == []  # from now on
    assert len(frames(admin.get("/v1/events/stream?after=0"))) == last
    resumed = admin.get("/v1/events/stream?after=0", headers={"Last-Event-ID": str(last - 1)})
    assert resumed["Content-Type"] == "text/event-stream"
    assert [(number, data["number"]) for number, data in frames(resumed)] == [(str(last), last)]
    assert admin.get("/v1/events/stream", headers={"Last-Event-ID": "x"}).status_code == 422


def test_other_projects_read_nothing_of_it(
    client_of: MakeClient, admin: APIClient, project: Project, other_project: Project
) -> None:
    stranger = client_of(other_project, Scope.ADMIN)
    for each in (admin, stranger):
        each.put("/v1/events/log", {"is_on": True})
    happened(project, "I live in Lisbon.")

    assert stranger.get("/v1/events").json()["results"] == []
    assert frames(stranger.get("/v1/events/stream?after=0")) == []


def test_a_log_that_webhooks_need_stays_on(admin: APIClient) -> None:
    admin.post("/v1/webhooks", {"name": "crm", "url": "https://example.com/", "event_types": ["user.erased"]})
    assert admin.get("/v1/events/log").json()["is_on"] is True

    assert admin.put("/v1/events/log", {"is_on": False}).status_code == 409
    assert admin.get("/v1/events/log").json()["is_on"] is True
