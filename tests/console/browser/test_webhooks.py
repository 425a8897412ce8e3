"""An admin connects another system in a browser: from the form to an event that was lost and arrives after all."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from apps.events.models import WebhookDelivery
from apps.tenants.models import Project
from memplatform_client import verify_webhook
from tests.console.browser.conftest import OpenPage
from tests.event_delivery import deliver_events
from tests.webhook_receiver import Receiver, receiving
from tests.worker.worker_helper import Person

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.WEBHOOK_PRIVATE_HOSTS = ["127.0.0.1"]
    with receiving() as made:
        yield made


def test_a_lost_event_arrives_after_all(open_window: OpenPage, project: Project, receiver: Receiver) -> None:
    window = open_window()
    window.open("webhooks/")
    window.page.get_by_label("Name").fill("crm")
    window.page.get_by_label("Address").fill(receiver.url)
    window.page.get_by_role("button", name="Create").click()
    secret = window.page.locator(".key-text").inner_text()
    window.page.get_by_role("link", name="crm").click()
    window.page.get_by_role("button", name="Send a test").click()
    expect(window.page.get_by_text("The receiver has taken the test (HTTP 204).")).to_be_visible()

    ana = Person(project)
    ana.says("I live in Lisbon.")
    ana.is_worked_for()
    receiver.statuses = [500]
    deliver_events()
    WebhookDelivery.objects.filter(state="waiting").update(state="failed")
    window.page.get_by_role("link", name="failed").click()
    expect(window.page.get_by_role("cell", name="HTTP 500", exact=True)).to_be_visible()
    window.page.get_by_role("button", name="Send all failed again").click()
    expect(window.page.get_by_text("1 failed delivery will be sent again.")).to_be_visible()
    window.assert_accessible("webhook")
    deliver_events()

    latest = receiver.requests[-1]
    told = verify_webhook(body=latest.body, headers=latest.headers, secret=secret)
    assert (told["type"], told["data"]["user_id"]) == ("memory.created", "ana")
    assert "Lisbon" not in json.dumps(told)
