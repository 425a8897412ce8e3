"""Webhooks over REST, from their creation to a delivery that is sent again."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.events.models import WebhookDelivery
from apps.memories.models import LedgerEntry
from apps.pipeline.core.enums import Scope
from apps.tenants.models import Project
from memplatform_client import verify_webhook
from tests.conftest import MakeClient
from tests.event_delivery import deliver_events
from tests.webhook_receiver import Receiver, receiving
from tests.worker.worker_helper import Person

BODY = {"name": "crm", "url": "https://example.com/hook", "event_types": ["memory.created", "trace.finished"]}


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.WEBHOOK_PRIVATE_HOSTS = ["127.0.0.1"]
    with receiving() as made:
        yield made


def test_from_its_creation_to_a_delivery_that_is_sent_again(
    admin: APIClient, project: Project, receiver: Receiver
) -> None:
    made = admin.post("/v1/webhooks", BODY | {"url": receiver.url}).json()
    assert admin.post(f"/v1/webhooks/{made['id']}/test").json()["status"] == "delivered"
    ana = Person(project)
    ana.says("I live in Lisbon.")
    ana.is_worked_for()
    receiver.statuses = [500]
    deliver_events()
    waiting = admin.get(f"/v1/webhooks/{made['id']}/deliveries?statuses=waiting&types=memory.created").json()["results"]
    assert [(each["attempts"], each["response_status"]) for each in waiting] == [(1, 500)]

    WebhookDelivery.objects.filter(state="waiting").update(state="failed")
    again = f"/v1/webhooks/{made['id']}/send-again"
    assert admin.post(again, {"until": "2020-01-01T00:00:00Z"}).json() == {"deliveries": 0}
    assert admin.post(again, {}).json() == {"deliveries": 2}
    deliver_events()
    delivered = admin.get(f"/v1/webhooks/{made['id']}/deliveries?statuses=delivered").json()["results"]
    assert len(delivered) == 3
    assert admin.post(again, {"delivery_id": delivered[0]["id"]}).json() == {"deliveries": 1}
    assert admin.post(again, {"delivery_id": delivered[0]["id"]}).status_code == 409  # waits already
    told = [
        verify_webhook(body=each.body, headers=each.headers, secret=made["secret"])["type"]
        for each in receiver.requests
    ]
    assert told == ["webhook.test", "memory.created", "memory.created", "trace.finished"]


def test_tests_leave_threads_to_others(admin: APIClient, settings: Any) -> None:
    address = f"/v1/webhooks/{admin.post('/v1/webhooks', BODY).json()['id']}"
    settings.SYNC_REQUESTS = 0
    refused = admin.post(f"{address}/test")

    assert (refused.status_code, refused.json()["code"], refused["Retry-After"]) == (429, "rate_limited", "10")
    assert admin.get(f"{address}/deliveries").json()["results"] == []


def test_a_secret_is_shown_once(admin: APIClient) -> None:
    key = {"Idempotency-Key": "one"}
    made = admin.post("/v1/webhooks", BODY, headers=key).json()
    repeated = admin.post("/v1/webhooks", BODY, headers=key).json()
    rotated = admin.post(f"/v1/webhooks/{made['id']}/rotate", {}).json()

    assert made["secret"].startswith("whsec_")
    assert repeated == made | {"secret": None}
    assert rotated["secret"] not in (None, made["secret"])
    assert rotated["former_secret_until"] is not None
    assert "secret" not in json.dumps(admin.get("/v1/webhooks").json()["results"][0]).replace("former_secret_until", "")
    assert admin.post(f"/v1/webhooks/{made['id']}/rotate", {"ends_at_once": True}).json()["former_secret_until"] is None


def test_a_webhook_is_changed_paused_resumed_and_deleted(admin: APIClient) -> None:
    address = f"/v1/webhooks/{admin.post('/v1/webhooks', BODY).json()['id']}"
    changed = admin.patch(address, {"name": "mail", "event_types": ["user.erased"], "includes_content": True}).json()
    assert (changed["name"], changed["event_types"], changed["includes_content"]) == ("mail", ["user.erased"], True)
    assert LedgerEntry.objects.get(verb="webhook_changed").details == {
        "fields": ["event_types", "includes_content", "name"],
        "includes_content": True,
    }
    assert admin.patch(address, {"paused": True}).json()["paused_by"]["kind"] == "key"
    assert admin.patch(address, {"paused": False}).json()["paused_at"] is None
    assert admin.delete(address).status_code == 204
    assert admin.get(address).status_code == 404
    verbs = LedgerEntry.objects.filter(object_kind="webhook").order_by("id").values_list("verb", flat=True)
    assert list(verbs) == [
        "webhook_created",
        "webhook_changed",
        "webhook_paused",
        "webhook_resumed",
        "webhook_deleted",
    ]


@pytest.mark.parametrize(
    ("change", "status", "at"),
    [
        ({"url": "http://example.com/"}, 422, "/url"),
        *(
            ({"url": f"https://{host}/"}, 422, "/url")
            for host in ("10.0.0.7", "localhost", "[fec0::1]", "169.254.169.254")
        ),
        ({"url": "https://user:word@example.com/"}, 422, "/url"),
        ({"url": "ftp://example.com/"}, 422, "/url"),
        ({"event_types": []}, 422, "/event_types"),
        ({"event_types": ["memory.eaten"]}, 422, "/event_types/0"),
        ({"name": "  "}, 422, "/name"),
        ({"name": "first"}, 409, None),
    ],
)
def test_what_does_not_fit_is_refused(admin: APIClient, change: dict[str, Any], status: int, at: str | None) -> None:
    admin.post("/v1/webhooks", BODY | {"name": "first"})
    refused = admin.post("/v1/webhooks", BODY | change)

    assert refused.status_code == status
    assert [each["pointer"] for each in refused.json().get("errors", [])] == ([at] if at else [])
    assert len(admin.get("/v1/webhooks").json()["results"]) == 1


def test_webhooks_of_another_project_are_not_found(
    admin: APIClient, client_of: MakeClient, other_project: Project
) -> None:
    made, stranger = admin.post("/v1/webhooks", BODY).json(), client_of(other_project, Scope.ADMIN)
    address = f"/v1/webhooks/{made['id']}"

    assert stranger.get(address).status_code == 404
    assert stranger.patch(address, {"paused": True}).status_code == 404
    assert stranger.post(f"{address}/test").status_code == 404
    assert stranger.post(f"{address}/rotate", {}).status_code == 404
    assert stranger.post(f"{address}/send-again", {}).status_code == 404
    assert stranger.get(f"{address}/deliveries").status_code == 404
    assert stranger.delete(address).status_code == 404
