"""Deliveries of events: signed, in the order of each user, tried again, given up, to no forbidden address."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from apps.events.enums import EventType
from apps.events.models import ProjectEvent, Webhook, WebhookDelivery
from apps.events.record import number_all_events
from apps.memories.models import Memory
from apps.memories.services.revising import retract
from apps.privacy.users import erase_user
from apps.tenants.models import EndUser, Project
from apps.webhooks.delivery import (
    USERS_AT_ONCE,
    claim,
    deliver_claimed,
    send_again,
    send_test,
)
from apps.webhooks.messages import event_messages
from apps.webhooks.services import EventPosition, read_streams, rotate_secret, update_webhook
from memplatform_client import verify_webhook
from tests.event_delivery import deliver_events
from tests.webhook_receiver import Receiver, is_signed, receiving
from tests.webhooks.webhook_rows import deliver_again, received, states, types, webhook
from tests.worker.worker_helper import Person

CREATED = [EventType.MEMORY_CREATED]


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.WEBHOOK_PRIVATE_HOSTS = ["127.0.0.1"]
    settings.WEBHOOK_TIMEOUT_SECONDS = 0.5
    with receiving() as made:
        yield made


@pytest.fixture
def ana(project: Project) -> Person:
    return Person(project)


def remembers(person: Person, *sentences: str) -> None:
    for place, sentence in enumerate(sentences):
        person.says(sentence, session=f"{person.name} {place}")
        person.is_worked_for()


def test_an_event_is_signed_and_tells_no_sentence(ana: Person, project: Project, receiver: Receiver) -> None:
    made = webhook(project, receiver.url)
    remembers(ana, "I live in Lisbon.")

    assert deliver_events() == 2
    memory = Memory.objects.get(end_user_id=ana.id)
    created, finished = receiver.requests
    assert is_signed(created, secret=made.secret)
    event = ProjectEvent.objects.order_by("id").first()
    assert created.headers["webhook-id"] == event.shown_id  # type: ignore[union-attr]
    body = json.loads(created.body)
    assert {**body, "timestamp": ""} == {
        "id": event.shown_id,  # type: ignore[union-attr]
        "number": 1,
        "type": "memory.created",
        "timestamp": "",
        "data": {
            "user_id": "ana",
            "end_user": body["data"]["end_user"],
            "memory_id": memory.shown_id,
            "trace_id": body["data"]["trace_id"],
            "verb": "added",
            "memory_type": memory.type,
            "status": "active",
            "version": 1,
            "private_to": "",
        },
    }
    assert json.loads(finished.body)["data"]["status"] == "done"
    assert b"Lisbon" not in created.body + finished.body


def test_a_sentence_is_sent_by_the_option_while_its_memory_is_active_and_shared(
    ana: Person, project: Project, receiver: Receiver
) -> None:
    webhook(project, receiver.url, event_types=CREATED, includes_content=True)
    remembers(ana, "I live in Lisbon.", "I work as a nurse.", "I like hiking.")
    first, second, third = Memory.objects.filter(end_user_id=ana.id).order_by("id")
    retract(project_id=project.id, memory_id=second.id)
    Memory.objects.filter(id=third.id).update(private_to="coach")
    deliver_events()

    contents = {data["memory_id"]: data.get("content") for _, data in received(receiver)}
    assert contents == {first.shown_id: first.content, second.shown_id: None, third.shown_id: None}


@pytest.mark.parametrize(
    ("status", "error"),
    [(500, "HTTP 500"), (302, "HTTP 302: redirects are not followed"), (0, "RemoteProtocolError"), (-1, "ReadTimeout")],
)
def test_a_failing_receiver_gets_the_same_event_again(
    ana: Person, project: Project, receiver: Receiver, status: int, error: str
) -> None:
    webhook(project, receiver.url, event_types=CREATED)
    remembers(ana, "I live in Lisbon.")
    receiver.statuses = [status]
    assert deliver_events() == 0
    (delivery,) = WebhookDelivery.objects.all()
    assert (delivery.state, delivery.attempts) == ("waiting", 1)
    assert delivery.last_error.startswith(error)
    assert deliver_events() == 0  # not due yet

    assert deliver_again() == 1
    first, second = receiver.requests
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert states() == [("memory.created", "delivered", 2)]


def test_the_events_of_one_user_keep_their_order_and_hold_up_no_other(
    ana: Person, project: Project, receiver: Receiver
) -> None:
    webhook(project, receiver.url, event_types=CREATED)
    remembers(ana, "I live in Lisbon.", "I work as a nurse.")
    receiver.statuses = [500]
    assert deliver_events() == 0  # the second one waits for the first
    assert len(receiver.requests) == 1
    remembers(Person(project, "ben"), "I live in Bonn.")
    assert deliver_events() == 1
    assert [data["user_id"] for _, data in received(receiver)] == ["ana", "ben"]

    assert deliver_again() == 2
    failed, _, again, second = [json.loads(each.body) for each in receiver.requests]
    assert failed["id"] == again["id"]
    assert again["number"] < second["number"]


@pytest.mark.parametrize("url", ["https://10.0.0.7/hook", "https://localhost/hook", "https://169.254.169.254/latest"])
def test_a_forbidden_address_gets_nothing(ana: Person, project: Project, receiver: Receiver, url: str) -> None:
    made = webhook(project, "https://example.com/hook", event_types=CREATED)
    Webhook.objects.filter(pk=made.pk).update(url=url)  # as if its name led there by now
    remembers(ana, "I live in Lisbon.")

    assert deliver_events() == 0
    assert "ConnectError" in WebhookDelivery.objects.get().last_error


def test_a_delivery_is_given_up_after_three_days_and_can_be_sent_again(
    ana: Person, project: Project, receiver: Receiver
) -> None:
    made = webhook(project, receiver.url, event_types=CREATED)
    remembers(ana, "I live in Lisbon.")
    receiver.statuses = [500, 500]
    deliver_events()
    WebhookDelivery.objects.update(give_up_at=timezone.now())
    deliver_again()
    assert states() == [("memory.created", "failed", 2)]

    since = timezone.now() - timedelta(hours=1)
    assert send_again(project_id=project.id, webhook_id=made.id, until=since) == 0
    assert send_again(project_id=project.id, webhook_id=made.id, since=since) == 1
    assert deliver_events() == 1
    send_again(project_id=project.id, webhook_id=made.id, delivery_id=WebhookDelivery.objects.get().id)
    assert deliver_events() == 1
    assert len({each.headers["webhook-id"] for each in receiver.requests}) == 1


def test_a_receiver_that_takes_nothing_is_left_alone_and_paused_after_a_day(
    ana: Person, project: Project, receiver: Receiver
) -> None:
    webhook(project, receiver.url, event_types=CREATED)
    people = [Person(project, f"user {place}") for place in range(5)]
    for person in people:
        remembers(person, "I live in Lisbon.")
    receiver.statuses = [500] * len(people)
    Webhook.objects.update(failures=2, failing_since=timezone.now() - timedelta(hours=25))
    deliver_events()
    paused = Webhook.objects.get()
    assert len(receiver.requests) == USERS_AT_ONCE  # those of the others were not tried
    assert (paused.paused_by, paused.pause_reason) == ("system", "the receiver has taken nothing for a day")
    assert deliver_again() == 0

    update_webhook(project_id=project.id, webhook_id=paused.id, is_paused=False)
    receiver.statuses = []
    assert deliver_again() == len(people)
    assert Webhook.objects.get().failing_since is None


def test_a_receiver_that_takes_nothing_for_less_than_a_day_is_tried_again(
    ana: Person, project: Project, receiver: Receiver
) -> None:
    webhook(project, receiver.url, event_types=CREATED)
    remembers(ana, "I live in Lisbon.")
    receiver.statuses = [500]
    Webhook.objects.update(failures=2, failing_since=timezone.now() - timedelta(hours=23, minutes=50))
    deliver_events()
    assert Webhook.objects.get().paused_at is None
    assert Webhook.objects.get().failures == 3

    assert deliver_again() == 1
    assert Webhook.objects.get().failing_since is None


def test_a_receiver_that_is_gone_is_paused_at_once(ana: Person, project: Project, receiver: Receiver) -> None:
    webhook(project, receiver.url, event_types=CREATED)
    remembers(ana, "I live in Lisbon.")
    receiver.statuses = [410]
    deliver_events()

    assert Webhook.objects.get().pause_reason == "the receiver answered that it is gone (HTTP 410)"


def test_nothing_of_an_erased_user_is_sent_but_that(ana: Person, project: Project, receiver: Receiver) -> None:
    webhook(project, receiver.url, includes_content=True)
    remembers(ana, "I live in Lisbon.")
    receiver.statuses = [500]
    deliver_events()
    told = received(receiver)[0][1]
    receiver.requests.clear()
    receipt = erase_user(project_id=project.id, user_id="ana")

    assert deliver_again() == 1
    assert received(receiver) == [("user.erased", {"end_user": told["end_user"], "erasure": receipt.shown_id})]


def test_nothing_is_told_of_a_user_whose_erasure_has_begun(ana: Person, project: Project, receiver: Receiver) -> None:
    webhook(project, receiver.url, includes_content=True)
    remembers(ana, "I live in Lisbon.")
    EndUser.objects.filter(id=ana.id).update(erasing_since=timezone.now())

    assert deliver_events() == 0
    assert receiver.requests == []
    assert states() == []
    events = list(ProjectEvent.objects.order_by("number"))
    assert event_messages(events, includes_content=True) == []
    position = EventPosition(project.id, after=0)
    assert read_streams({position}) == {position: (b"", 2)}


@pytest.mark.parametrize(("is_paused", "sent", "left"), [(True, 1, 1), (False, 2, 0)])
def test_a_pause_holds_from_the_next_delivery_on(
    ana: Person, project: Project, receiver: Receiver, is_paused: bool, sent: int, left: int
) -> None:
    made = webhook(project, receiver.url, event_types=CREATED)
    remembers(ana, "I live in Lisbon.", "I work as a nurse.")
    number_all_events()
    ((webhook_id, _),) = claim(most=1)

    def pause_after_the_first() -> bool:
        if receiver.requests and is_paused:
            update_webhook(project_id=project.id, webhook_id=made.id, is_paused=True)
        return False

    deliver_claimed(webhook_id, project.id, stop=pause_after_the_first)
    found = Webhook.objects.get()
    assert len(receiver.requests) == sent
    assert WebhookDelivery.objects.filter(state="waiting").count() == left
    assert (found.paused_at is not None, found.leased_until) == (is_paused, None)


def test_failures_of_a_former_address_are_not_counted(ana: Person, project: Project, receiver: Receiver) -> None:
    made = webhook(project, receiver.url, event_types=CREATED)
    remembers(ana, "I live in Lisbon.")
    number_all_events()
    receiver.statuses = [500]
    ((webhook_id, _),) = claim(most=1)

    def move() -> bool:
        if receiver.requests:
            update_webhook(project_id=project.id, webhook_id=made.id, url="https://example.com/moved")
        return bool(receiver.requests)

    deliver_claimed(webhook_id, project.id, stop=move)
    found = Webhook.objects.get()
    assert (found.failures, found.paused_at, found.leased_until) == (0, None, None)


def test_what_another_process_has_claimed_is_left_to_it(ana: Person, project: Project, receiver: Receiver) -> None:
    webhook(project, receiver.url, event_types=CREATED)
    remembers(ana, "I live in Lisbon.")
    number_all_events()
    ((webhook_id, _),) = claim(most=1)
    later = timezone.now() + timedelta(hours=1)

    def is_claimed_by_another() -> bool:
        Webhook.objects.update(leased_until=later, lease_token=uuid4())
        return False

    assert deliver_claimed(webhook_id, project.id, stop=is_claimed_by_another) == 1
    assert Webhook.objects.get().leased_until == later


def test_both_secrets_are_good_while_one_replaces_the_other(ana: Person, project: Project, receiver: Receiver) -> None:
    made = webhook(project, receiver.url)
    renewed = rotate_secret(project_id=project.id, webhook_id=made.id)
    assert send_test(project_id=project.id, webhook_id=made.id).state == "delivered"
    (request,) = receiver.requests
    for secret in (made.secret, renewed.secret):
        assert verify_webhook(body=request.body, headers=request.headers, secret=secret)["type"] == "webhook.test"

    latest = rotate_secret(project_id=project.id, webhook_id=made.id, ends_at_once=True)
    send_test(project_id=project.id, webhook_id=made.id)
    assert is_signed(receiver.requests[1], secret=latest.secret)


def test_a_test_tells_its_outcome_and_is_tried_once(project: Project, receiver: Receiver) -> None:
    made = webhook(project, receiver.url)
    receiver.statuses = [503]
    outcome = send_test(project_id=project.id, webhook_id=made.id)

    assert (outcome.state, outcome.response_status, outcome.last_error) == ("failed", 503, "HTTP 503")
    assert deliver_again() == 0
    assert types(receiver) == ["webhook.test"]


def test_a_slow_receiver_gets_the_events_of_several_users_at_once(
    project: Project, receiver: Receiver, settings: Any
) -> None:
    settings.WEBHOOK_TIMEOUT_SECONDS = 2.0
    webhook(project, receiver.url, event_types=CREATED)
    people = [Person(project, f"user {place}") for place in range(USERS_AT_ONCE)]
    for person in people:
        remembers(person, "I live in Lisbon.")
    receiver.answers_after = 1.2  # two after one another would take longer than the timeout

    assert deliver_events() == len(people)
