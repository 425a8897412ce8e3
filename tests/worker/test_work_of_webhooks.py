"""A worker numbers events and delivers them at webhooks beside the work of end users."""

from typing import Any

import pytest

from apps.events.enums import EventType
from apps.memories.live_ports import live
from apps.tenants.models import Project
from tests.webhook_receiver import receiving
from tests.webhooks.webhook_rows import webhook
from tests.worker.worker_helper import Person, make_worker

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_worker_delivers_what_its_own_work_has_caused(project: Project, settings: Any) -> None:
    settings.WEBHOOK_PRIVATE_HOSTS = ["127.0.0.1"]
    with receiving() as receiver:
        webhook(project, receiver.url, event_types=[EventType.MEMORY_CREATED])
        Person(project).says("I live in Lisbon.")
        make_worker(live(), idle=1.0).run()
        assert len(receiver.requests) == 1
