"""Work that kills its worker is dead after its attempts; other work of the same worker finishes."""

import os
import signal
from collections.abc import Sequence

import pytest
from django.conf import settings

from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import TraceStatus, WorkState
from apps.tenants.models import Project
from apps.worker.shutdown import StopFlag
from apps.worker.work import Worker
from tests.chaos.failpoints import in_a_fork
from tests.instance import PATIENCE
from tests.outbox.outbox_factories import expire
from tests.worker.worker_helper import Person, interrupted

pytestmark = pytest.mark.django_db(transaction=True)
NEIGHBOURS = 50


def die(texts: Sequence[str]) -> None:
    if any("Porto" in text for text in texts):
        os.kill(os.getpid(), signal.SIGKILL)


def drain() -> None:
    Worker(ports=interrupted(die), threads=8, stop=StopFlag(), idle_seconds=0.0, seconds=PATIENCE).run()


def test_it_ends_dead_and_its_neighbours_finish(project: Project) -> None:
    poison, *neighbours = [Person(project, f"person {number}") for number in range(1 + NEIGHBOURS)]
    poison.says("I live in Porto.")
    for person in neighbours:
        person.says("I live in Lisbon.")
    deaths = 0
    while in_a_fork(drain) == -signal.SIGKILL:
        deaths += 1
        assert deaths <= settings.WORK_MAX_ATTEMPTS, "it goes on killing workers"
        for person in (poison, *neighbours):
            expire(person.id)  # as time does
    assert deaths == settings.WORK_MAX_ATTEMPTS
    assert poison.statuses() == [TraceStatus.DEAD]
    assert [person.statuses() for person in neighbours] == [[TraceStatus.DONE]] * NEIGHBOURS
    dead = OutboxRow.objects.get(state=WorkState.DEAD)
    assert (dead.end_user_id, dead.last_error.partition(":")[0]) == (poison.id, "WorkerDied")
