"""A worker that is asked to stop ends, and gives back what it has not finished."""

import pytest

from apps.memories.live_ports import live
from apps.outbox.models import OutboxRow, UserLease
from apps.pipeline.core.enums import TraceStatus, WorkState
from apps.tenants.models import Project
from apps.worker.shutdown import StopFlag
from tests.worker.worker_helper import Person, interrupted, make_worker

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people(project: Project) -> list[Person]:
    return [Person(project, f"person {number}") for number in range(6)]


def test_a_stopped_drain_finishes_work_in_flight_and_releases_the_rest(people: list[Person]) -> None:
    stop = StopFlag()
    for person in people:
        person.says("I live in Lisbon.", session="monday")
        person.says("I work as a nurse.", session="tuesday")
    make_worker(interrupted(lambda _: stop.set()), stop=stop, threads=1).run()
    done = OutboxRow.objects.filter(state=WorkState.DONE).count()
    assert 1 <= done < OutboxRow.objects.count()
    assert not OutboxRow.objects.filter(state=WorkState.RUNNING).exists()
    assert not UserLease.objects.filter(lease_token__isnull=False).exists()
    make_worker(live()).run()
    assert all(person.statuses() == [TraceStatus.DONE] * 2 for person in people)
