"""Messages about alerts: signed, told once, sent again to a receiver that fails, and to no forbidden address."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core import mail
from django.db.models import F
from django.utils import timezone

from apps.alerts import messages as delivering
from apps.alerts.enums import AlertEvent, AlertState, ProblemCode
from apps.alerts.messages import CLAIMED_FOR, MOST_ATTEMPTS, deliver_messages, enqueue_messages, wait_before_next
from apps.alerts.models import Alert, AlertDelivery
from apps.events.enums import DeliveryState
from apps.tenants.models import Project
from apps.webhooks.messages import signed_headers
from apps.worker import tasks
from tests.alerts.alert_rows import SECRET, alert, recipients
from tests.webhook_receiver import Receiver, is_signed, receiving

MOST = timedelta(seconds=30)


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.WEBHOOK_PRIVATE_HOSTS = ["127.0.0.1"]
    settings.WEBHOOK_TIMEOUT_SECONDS = 5.0
    with receiving() as made:
        yield made


def told(alert: Alert, event: AlertEvent = AlertEvent.OPENED) -> AlertDelivery:
    enqueue_messages(alert=alert, event=event)
    return AlertDelivery.objects.filter(alert=alert, event=event).get()


def make_due() -> None:
    AlertDelivery.objects.update(next_try_at=timezone.now())


def test_a_signature_is_as_the_standard_describes() -> None:
    """The example of https://github.com/standard-webhooks/standard-webhooks: id, secret, body and signature."""
    headers = signed_headers(
        secrets=[SECRET],
        message_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        now=datetime.fromtimestamp(1614265330, tz=UTC),
        body=b'{"test": 2432232314}',
    )
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_webhook_is_signed_and_tells_all(project: Project, receiver: Receiver) -> None:
    recipients(project, receiver.url)
    opened = alert(project, figures={"waiting": 1})
    delivery = told(opened)
    assert tasks.deliver_alerts() == 1
    (request,) = receiver.requests
    assert is_signed(request, secret=SECRET)
    assert request.headers["webhook-id"] == str(delivery.id)
    body = json.loads(request.body)
    assert body["type"] == "alert.opened"
    assert body["data"] | {"opened_at": ""} == {
        "id": opened.shown_id,
        "project": "test",
        "kind": "work_late",
        "subject": "",
        "cause": "The oldest queued work has waited for 12 min.",
        "cost": "1 piece of work is queued.",
        "figures": {"waiting": 1},
        "opened_at": "",
        "resolved_at": None,
        "remedy": "See what it waits for, or start more workers.",
        "url": None,
    }
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts, delivery.last_error) == (DeliveryState.DELIVERED, 1, "")


def test_a_message_links_the_page_that_mends_it(project: Project, receiver: Receiver, settings: Any) -> None:
    settings.PUBLIC_URL = "https://memory.example.com/"
    recipients(project, receiver.url)
    told(alert(project, ProblemCode.DEAD_WORK))
    deliver_messages(most=MOST)
    url = json.loads(receiver.requests[0].body)["data"]["url"]
    assert url == "https://memory.example.com/console/test/queue/?state=dead"


@pytest.mark.parametrize(
    ("status", "error"), [(500, "HTTP 500"), (404, "HTTP 404"), (302, "HTTP 302: redirects are not followed")]
)
def test_a_failing_receiver_gets_the_same_message_again(
    project: Project, receiver: Receiver, status: int, error: str
) -> None:
    recipients(project, receiver.url)
    delivery = told(alert(project))
    receiver.statuses = [status]
    assert deliver_messages(most=MOST) == 0
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts, delivery.last_error) == (DeliveryState.WAITING, 1, error)
    assert deliver_messages(most=MOST) == 0  # not due yet
    assert len(receiver.requests) == 1

    make_due()
    assert deliver_messages(most=MOST) == 1
    first, second = receiver.requests
    assert first.headers["webhook-id"] == second.headers["webhook-id"]


def test_the_waits_double_up_to_an_hour() -> None:
    minutes = [wait_before_next(attempts) / timedelta(minutes=1) for attempts in range(1, 10)]
    assert minutes == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_a_message_is_given_up_after_its_last_attempt(project: Project, receiver: Receiver) -> None:
    recipients(project, receiver.url)
    delivery = told(alert(project))
    receiver.statuses = [500] * MOST_ATTEMPTS
    for _ in range(MOST_ATTEMPTS + 1):
        make_due()
        deliver_messages(most=MOST)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == (DeliveryState.FAILED, MOST_ATTEMPTS)
    assert len(receiver.requests) == MOST_ATTEMPTS


def test_a_failing_receiver_delays_no_other(project: Project, other_project: Project, receiver: Receiver) -> None:
    recipients(project, "http://127.0.0.1:9/nobody")
    recipients(other_project, receiver.url)
    for each in (project, other_project):
        told(alert(each))
    assert deliver_messages(most=MOST) == 1
    assert [each.state for each in AlertDelivery.objects.order_by("id")] == ["waiting", "delivered"]


def test_an_unforeseen_failure_delays_no_other(project: Project, other_project: Project, receiver: Receiver) -> None:
    broken = recipients(project, receiver.url)
    broken.webhook_secret = "whsec_A"  # not base64
    broken.save()
    recipients(other_project, receiver.url)
    for each in (project, other_project):
        told(alert(each))
    assert deliver_messages(most=MOST) == 1
    first, second = AlertDelivery.objects.order_by("id")
    assert (first.state, first.last_error) == (DeliveryState.WAITING, "Error")
    assert second.state == DeliveryState.DELIVERED


def test_the_resolution_is_told_after_the_opening(project: Project, receiver: Receiver) -> None:
    recipients(project, receiver.url)
    opened = alert(project)
    told(opened)
    receiver.statuses = [500]
    deliver_messages(most=MOST)
    now = timezone.now()
    Alert.objects.update(state=AlertState.RESOLVED, resolved_at=now)
    told(Alert.objects.get(), AlertEvent.RESOLVED)
    assert deliver_messages(most=MOST) == 0  # waits for the other
    make_due()
    assert deliver_messages(most=MOST) == 2
    assert [json.loads(each.body)["type"] for each in receiver.requests[1:]] == ["alert.opened", "alert.resolved"]


def test_a_message_that_another_process_sends_is_passed_over(
    project: Project, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipients(project, receiver.url)
    told(alert(project))

    def die(_: AlertDelivery) -> None:
        assert deliver_messages(most=MOST) == 0  # while this one sends it
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(delivering, "send_message", die)
        with pytest.raises(KeyboardInterrupt):
            deliver_messages(most=MOST)
    assert deliver_messages(most=MOST) == 0
    AlertDelivery.objects.update(next_try_at=F("next_try_at") - CLAIMED_FOR)
    assert deliver_messages(most=MOST) == 1


def test_private_addresses_are_not_called(project: Project, receiver: Receiver, settings: Any) -> None:
    """Not even those of model servers: admins of projects choose webhooks."""
    settings.WEBHOOK_PRIVATE_HOSTS = []
    assert "127.0.0.1" in settings.PRIVATE_HOSTS
    recipients(project, receiver.url)
    told(alert(project))
    assert deliver_messages(most=MOST) == 0
    assert receiver.requests == []
    assert "not public" in AlertDelivery.objects.get().last_error


def test_a_message_is_not_sent_under_a_secret_that_cannot_be_read(
    project: Project, receiver: Receiver, settings: Any
) -> None:
    """Its signature could be forged by anybody."""
    recipients(project, receiver.url)
    told(alert(project))
    settings.SECRET_KEY = "another one, under which nothing was encrypted, as after a restore without the former"
    assert deliver_messages(most=MOST) == 0
    assert receiver.requests == []
    assert "can't be read" in AlertDelivery.objects.get().last_error


def test_mail_is_off_unless_a_server_is_configured(project: Project, settings: Any) -> None:
    assert settings.EMAIL_HOST in ("", "localhost")
    settings.EMAIL_HOST = ""
    recipients(project, mails=("ops@example.com",))
    assert enqueue_messages(alert=alert(project), event=AlertEvent.OPENED) == 0


def test_mail(project: Project, settings: Any) -> None:
    settings.EMAIL_HOST = "mail.example.com"
    recipients(project, mails=("ops@example.com", "lead@example.com"))
    Project.objects.update(name="Test\nBcc: all@example.com")
    opened = alert(project)
    enqueue_messages(alert=opened, event=AlertEvent.OPENED)
    assert deliver_messages(most=MOST) == 2
    opened.state, opened.resolved_at = AlertState.RESOLVED, timezone.now()
    opened.save()
    enqueue_messages(alert=opened, event=AlertEvent.RESOLVED)
    assert deliver_messages(most=MOST) == 2
    first, _, third, _ = mail.outbox
    cause = "The oldest queued work has waited for 12 min."
    assert first.subject == f"[Test Bcc: all@example.com] {cause}"
    assert first.to == ["ops@example.com"]
    assert "start more workers" in first.body
    assert third.subject == f"[Test Bcc: all@example.com] Resolved: {cause}"


def test_a_mail_server_that_fails_is_tried_again(project: Project, settings: Any) -> None:
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    recipients(project, mails=("ops@example.com",))
    enqueue_messages(alert=alert(project), event=AlertEvent.OPENED)
    assert deliver_messages(most=MOST) == 0
    assert "refused" in AlertDelivery.objects.get().last_error
