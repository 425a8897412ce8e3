"""Events are recorded with the change that they tell of, for projects that keep them, without a further statement."""

from typing import Any

import pytest
from django.db import transaction

from apps.events.models import ProjectEvent, WebhookDelivery
from apps.events.record import number_all_events
from apps.intake.sessions import delete_session
from apps.memories.models import Memory
from apps.privacy.users import erase_user
from apps.tenants.models import Project
from apps.webhooks.services import set_event_log
from tests.webhooks.webhook_rows import webhook
from tests.worker.worker_helper import Person, broken

SAID = "I live in Lisbon and I work as a nurse."


def recorded() -> list[str]:
    return list(ProjectEvent.objects.order_by("id").values_list("type", flat=True))


@pytest.fixture
def ana(project: Project) -> Person:
    return Person(project)


@pytest.fixture
def log(project: Project) -> None:
    set_event_log(project_id=project.id, is_on=True)


def test_a_run_tells_of_its_memories_and_its_end(ana: Person, log: None) -> None:
    ana.says(SAID)
    ana.is_worked_for()

    assert recorded() == ["memory.created", "memory.created", "trace.finished"]
    created, finished = ProjectEvent.objects.order_by("id").first(), ProjectEvent.objects.order_by("id").last()
    memory = Memory.objects.get(id=created.memory_id)  # type: ignore[union-attr]
    assert created.details == {  # type: ignore[union-attr]
        "verb": "added",
        "other": None,
        "memory_type": memory.type,
        "status": "active",
        "version": 1,
        "private_to": "",
    }
    assert finished.details["status"] == "done"  # type: ignore[union-attr]


def test_a_new_value_tells_what_it_supersedes(ana: Person, log: None) -> None:
    ana.says("I live in Lisbon.")
    ana.is_worked_for()
    ana.says("I live in Porto now.", session="tuesday")
    ana.is_worked_for()

    closed = ProjectEvent.objects.get(type="memory.superseded")
    newer = Memory.objects.get(end_user_id=ana.id, status="active")
    assert closed.details["status"] == "superseded"
    assert closed.details["other"] == str(newer.id)


def test_without_a_webhook_nothing_is_recorded(ana: Person) -> None:
    ana.says(SAID)
    ana.is_worked_for()

    assert recorded() == []


def test_no_event_without_the_change(ana: Person, log: None, project: Project) -> None:
    ana.says(SAID)
    with transaction.atomic():
        ana.is_worked_for()
        assert recorded()
        transaction.set_rollback(True)

    assert recorded() == []


def test_a_run_that_is_given_up_tells_so(ana: Person, log: None, settings: Any) -> None:
    settings.WORK_MAX_ATTEMPTS = 1
    ana.says("I live in Lisbon.")
    ana.is_worked_for(broken("Lisbon"))

    assert recorded() == ["trace.failed"]
    assert ProjectEvent.objects.get().details == {"status": "dead"}


def test_deleting_a_session_tells_of_the_memories_that_went_with_it(ana: Person, log: None, project: Project) -> None:
    ana.says(SAID)
    ana.is_worked_for()
    memories = set(Memory.objects.filter(end_user_id=ana.id).values_list("id", flat=True))
    delete_session(project_id=project.id, user_id="ana", session_id="monday")

    deleted = ProjectEvent.objects.filter(type="memory.deleted")
    assert {each.memory_id for each in deleted} == memories


def test_an_erasure_removes_the_users_events_and_tells_that_alone(ana: Person, project: Project) -> None:
    webhook(project, "https://example.com/hook")
    ana.says(SAID)
    ana.is_worked_for()
    number_all_events()
    assert WebhookDelivery.objects.exists()
    receipt = erase_user(project_id=project.id, user_id="ana")

    assert receipt.counts["events"] == 3
    assert receipt.counts["webhook_deliveries"] == 3
    told = ProjectEvent.objects.get()
    assert (told.type, told.end_user_id) == ("user.erased", None)
    assert told.details["erasure"] == receipt.shown_id
