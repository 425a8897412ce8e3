"""A model stops answering: one alert, told by a signed webhook, and again when it is over."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from apps.alerts.models import Alert, AlertDelivery
from apps.alerts.services import RESOLVE_AFTER, evaluate_alerts
from apps.memories.live_ports import live
from apps.outbox.models import ModelPause
from apps.pipeline.core.enums import Scope
from apps.tenants.models import Project
from apps.traces.models import Trace
from apps.worker import tasks
from apps.worker.process_user import process_user
from benchmarks.model_server import ModelServer, Reply, simply
from tests.alerts.alert_rows import beat
from tests.alerts.test_deliver import make_due
from tests.conftest import MakeClient
from tests.outbox.outbox_factories import claim, make_try_due
from tests.webhook_receiver import Receiver, is_signed, receiving
from tests.worker.answering_model import extracted_with

pytestmark = pytest.mark.django_db
LATER = timedelta(minutes=6)


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.WEBHOOK_PRIVATE_HOSTS = ["127.0.0.1"]
    with receiving() as made:
        yield made


def test_an_outage_from_its_beginning_to_its_end(
    project: Project, client_of: MakeClient, model_server: ModelServer, receiver: Receiver
) -> None:
    extracted_with(project, batching="eager")
    caller = client_of(project, Scope.ADMIN)
    secret = caller.put("/v1/alert-recipients", {"webhook_url": receiver.url}).json()["webhook_secret"]
    beat()
    model_server.answering = lambda _: Reply(status=503, headers={"retry-after-ms": "1"}, error="I live in Bonn")
    for number in range(3):
        say(caller, f"user {number}")
    work()
    assert ModelPause.objects.count() == 1

    evaluate_alerts()  # at once: nobody is told of a model that is silent for a second
    assert not Alert.objects.exists()
    evaluate_alerts(now=timezone.now() + LATER)
    evaluate_alerts(now=timezone.now() + LATER)
    (opened,) = caller.get("/v1/alerts").json()["results"]
    assert (opened["kind"], opened["subject"]) == ("model_unavailable", "anthropic:claude-haiku-4-5")
    assert opened["cost"].startswith("3 requests wait for it")

    receiver.statuses = [500]
    assert tasks.deliver_alerts() == 0  # the receiver fails once
    make_due()
    assert tasks.deliver_alerts() == 1
    assert all(is_signed(request, secret=secret) for request in receiver.requests)
    told = json.loads(receiver.requests[-1].body)
    assert (told["type"], told["data"]["id"]) == ("alert.opened", opened["id"])
    assert "Bonn" not in str(told)  # neither what users say nor what servers answer

    model_server.answering = simply
    make_try_due()
    work()
    assert set(Trace.objects.values_list("status", flat=True)) == {"done"}
    evaluate_alerts(now=timezone.now() + LATER)
    assert tasks.deliver_alerts() == 0  # it may begin again
    evaluate_alerts(now=timezone.now() + LATER + RESOLVE_AFTER)
    assert tasks.deliver_alerts() == 1
    told = json.loads(receiver.requests[-1].body)
    assert (told["type"], told["data"]["id"]) == ("alert.resolved", opened["id"])
    assert told["data"]["resolved_at"]
    assert caller.get("/v1/alerts").json()["results"] == []
    assert AlertDelivery.objects.count() == 2


def say(caller: APIClient, user: str) -> None:
    turn = {"role": "user", "content": "I live in Lisbon and I work as a nurse."}
    assert caller.post("/v1/turns", {"user_id": user, "session_id": "s", "turns": [turn]}).status_code == 202


def work() -> None:
    """Process all work that can be claimed now."""
    while claimed := claim():
        for lease in claimed:
            process_user(lease=lease, ports=live())
