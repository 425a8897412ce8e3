"""The pages of webhooks: created with a secret that is shown once, tested, paused, rotated, sent again, deleted."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.events.models import Webhook, WebhookDelivery
from apps.tenants.enums import MemberRole
from apps.tenants.models import Project
from tests.console.members import member
from tests.event_delivery import deliver_events
from tests.webhook_receiver import Receiver, is_signed, receiving
from tests.worker.worker_helper import Person

HOME = "/console/test/webhooks/"


@pytest.fixture
def admin(project: Project) -> Client:
    return member("the admin", project, MemberRole.ADMIN)


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.WEBHOOK_PRIVATE_HOSTS = ["127.0.0.1"]
    with receiving() as made:
        yield made


def created(admin: Client, url: str, **values: Any) -> tuple[Webhook, str]:
    """Create a webhook as the form does; return it with the secret that the page shows."""
    body = {"name": "crm", "url": url, "event_types": ["memory.created"], "once": "1", **values}
    page = admin.post(HOME, body).content.decode()
    (secret,) = re.findall(r"whsec_[\w+/=]+", page)
    return Webhook.objects.get(name="crm"), secret


def text_of(client: Client, path: str) -> str:
    answer = client.get(path, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_secret_is_shown_once_and_signs_a_test(admin: Client, receiver: Receiver) -> None:
    webhook, secret = created(admin, receiver.url)
    page = f"{HOME}{webhook.pk}/"
    assert secret not in text_of(admin, page) + text_of(admin, HOME)
    repeated = admin.post(HOME, {"name": "crm", "url": receiver.url, "event_types": ["memory.created"], "once": "1"})
    assert repeated.status_code == 302  # a reloaded page creates no second one

    told = admin.post(f"{page}test/", follow=True).content.decode()
    assert "The receiver has taken the test (HTTP 204)." in told
    assert is_signed(receiver.requests[0], secret=secret)
    receiver.statuses = [500]
    assert "The test was not taken: HTTP 500." in admin.post(f"{page}test/", follow=True).content.decode()


def test_what_was_not_taken_is_sent_again(project: Project, admin: Client, receiver: Receiver) -> None:
    webhook, _ = created(admin, receiver.url)
    page, ana = f"{HOME}{webhook.pk}/", Person(project)
    ana.says("I live in Lisbon.")
    ana.is_worked_for()
    receiver.statuses = [500]
    deliver_events()
    assert "HTTP 500" in text_of(admin, f"{page}?state=waiting&type=memory.created")
    assert "No such deliveries" in text_of(admin, f"{page}?state=failed")

    WebhookDelivery.objects.update(state="failed")
    today = timezone.now().date()
    before = {"until": today - timedelta(days=2)}
    assert "0 failed deliveries will be" in admin.post(f"{page}again/", before, follow=True).content.decode()
    assert "1 failed delivery will be" in admin.post(f"{page}again/", {"since": today}, follow=True).content.decode()
    assert deliver_events() == 1
    delivery = WebhookDelivery.objects.get()
    assert "It is sent again." in admin.post(f"{page}again/", {"delivery": delivery.pk}, follow=True).content.decode()
    assert deliver_events() == 1
    assert "Lisbon" not in text_of(admin, page)


def test_a_webhook_is_changed_paused_rotated_and_deleted(admin: Client) -> None:
    webhook, secret = created(admin, "https://example.com/hook")
    page = f"{HOME}{webhook.pk}/"
    changed = {
        "name": "mail",
        "url": "https://example.com/other",
        "event_types": ["user.erased"],
        "includes_content": "on",
    }
    assert "Saved." in admin.post(page, changed, follow=True).content.decode()
    webhook.refresh_from_db()
    assert (webhook.name, webhook.event_types, webhook.includes_content) == ("mail", ["user.erased"], True)
    assert "must begin with https://" in admin.post(page, changed | {"url": "http://example.com"}).content.decode()

    assert "Paused" in admin.post(f"{page}switch/", follow=True).content.decode()
    assert "the admin" in text_of(admin, page)
    assert "Resumed." in admin.post(f"{page}switch/", follow=True).content.decode()
    rotated = admin.post(f"{page}rotate/", {"once": "2"}).content.decode()
    assert re.findall(r"whsec_[\w+/=]+", rotated) not in ([], [secret])
    assert admin.post(f"{page}rotate/", {"once": "2"}).status_code == 302
    assert "Deleted." in admin.post(f"{page}delete/", follow=True).content.decode()
    assert admin.get(page).status_code == 404


def test_a_receiver_that_takes_nothing_is_told_on_the_pages_of_webhooks(project: Project, admin: Client) -> None:
    webhook, _ = created(admin, "https://example.com/hook")
    Webhook.objects.update(failing_since=timezone.now() - timedelta(minutes=20))
    for page in (HOME, f"{HOME}{webhook.pk}/"):
        assert "failing" in text_of(admin, page)
