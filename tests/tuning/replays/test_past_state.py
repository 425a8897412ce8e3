"""Decisions of people and writes of callers between the traces are taken in as they happened."""

from uuid import UUID

import pytest

from apps.memories.models import Entity, Memory
from apps.memories.services.entities import merge_entities
from apps.memories.services.revising import retract
from apps.memories.services.store import StoreRequest, store
from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.statement import Mention
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.tenants.models import Project
from apps.traces.models import Trace
from tests.tuning.replays.replay_helper import differences, replay_of, replayed, stored
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana(project: Project) -> Person:
    """A person whose memories others have changed between her turns."""
    ana = Person(project)
    says(ana, "I live in Lisbon.")
    new = NewMemory(
        type=MemoryType.PREFERENCE, content="User likes jazz.", subject=Mention(text="User"), predicate="likes"
    )
    store(request=StoreRequest(project.pk, None, ana.name, (new,)))
    retract(project_id=project.pk, memory_id=memory("User lives in Lisbon."))
    says(ana, "I live in Lisbon.", "I like jazz.")
    says(ana, "My friend Bob lives in Rome.", "My friend Robert lives in Rome.")
    bob, robert = (Entity.objects.get(end_user_id=ana.id, name=name) for name in ("Bob", "Robert"))
    merge_entities(project_id=project.pk, entity_id=robert.pk, into_id=bob.pk)
    says(ana, "My friend Robert lives in Rome now.")
    return ana


def says(ana: Person, *contents: str) -> None:
    for content in contents:
        ana.says(content)
    while ana.is_worked_for():
        pass


def memory(content: str) -> UUID:
    return Memory.objects.filter(content=content).latest("created_at").pk


def test_the_whole_history_replays_without_a_difference(ana: Person) -> None:
    runs, replay = replay_of(ana.id)
    assert differences(runs) == []
    assert replayed(replay) == stored(ana.id) != []


def test_so_does_each_part_of_it(ana: Person) -> None:
    traces = list(Trace.objects.filter(end_user_id=ana.id).order_by("created_at").values_list("id", flat=True))
    for place, trace in enumerate(traces):
        runs, _ = replay_of(ana.id, traces=[trace])
        assert differences(runs) == [], place


def test_so_does_each_by_itself(ana: Person) -> None:
    runs, _ = replay_of(ana.id, is_isolated=True)
    assert differences(runs) == []
