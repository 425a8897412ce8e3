"""An operator finds and mends an outage of the model in four clicks, from the alert to turns that are remembered."""

import re
from datetime import timedelta
from typing import Any

import anthropic  # noqa: F401  # so that no call spends its time on the import
import pytest
from django.utils import timezone
from playwright.sync_api import expect
from rest_framework.test import APIClient

from apps.alerts.services import evaluate_alerts
from apps.memories.live_ports import live
from apps.outbox import leases
from apps.outbox.models import ModelPause, OutboxRow
from apps.pipeline.core.enums import Batching, WorkState
from apps.pipeline.core.policy import ExtractionPolicy, IndexPolicy, Policy
from apps.projects.services import configure
from apps.tenants.models import Project
from apps.worker.process_user import process_user
from benchmarks.model_server import ModelServer, Reply, simply
from tests.console.browser.conftest import OpenPage
from tests.console.browser.hands import WINDOWS, Hands

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def work_off() -> None:
    for lease in leases.claim(limit=10, seconds=60):
        process_user(lease=lease, ports=live())


def say(client: APIClient, user: str, text: str) -> None:
    turns = [{"role": "user", "content": text}]
    client.post("/v1/turns", {"user_id": user, "session_id": "s", "turns": turns})


@pytest.mark.parametrize(("width", "has_mouse"), WINDOWS)
def test_an_outage_is_mended_in_four_clicks(
    open_window: OpenPage,
    project: Project,
    client: APIClient,
    model_server: ModelServer,
    settings: Any,
    width: int,
    has_mouse: bool,
) -> None:
    policy = Policy(extraction=ExtractionPolicy(batching=Batching.EAGER), index=IndexPolicy(model_questions=False))
    configure(project_id=project.id, policy=policy)
    model_server.answering = lambda _: Reply(status=503, headers={"retry-after-ms": "1"}, error="overloaded")
    say(client, "ana", "I have a dog called Rex.")
    work_off()
    OutboxRow.objects.update(state=WorkState.DEAD, last_error="gave up")
    say(client, "bo", "I have a cat called Tom.")
    work_off()
    ModelPause.objects.update(since=timezone.now() - timedelta(minutes=5))
    evaluate_alerts()

    window = open_window(width=width, height=844)
    hands = Hands(window, has_mouse)
    window.open("dashboard/")
    if width == 1280:
        hands.click(window.page.get_by_role("link", name=re.compile("^Health")))
    hands.click(window.page.get_by_role("link", name="See its error and try it now"))
    models = window.page.get_by_role("region", name="Models")
    expect(models).to_contain_text("does not answer")
    model_server.answering = simply
    hands.click(window.page.get_by_role("button", name="Test call"))
    expect(window.page.get_by_role("status").filter(has_text="has answered")).to_be_visible()
    expect(models).to_contain_text("answers")
    hands.click(window.page.get_by_role("button", name="Retry all"))
    expect(window.page.get_by_text("1 failed entry will be retried now.")).to_be_visible()
    assert hands.clicks <= 4

    work_off()
    work_off()
    for user, name in (("ana", "dog called Rex"), ("bo", "cat called Tom")):
        found = client.post("/v1/memories/search", {"user_id": user, "query": name}).json()["results"]
        assert name in str(found)
    window.open("queue/")
    expect(window.page.get_by_text("All accepted turns are processed.")).to_be_visible()
    evaluate_alerts(now=timezone.now() + timedelta(minutes=11))
    window.open("alerts/")
    expect(window.page.get_by_text("See its error and try it now")).to_have_count(0)
