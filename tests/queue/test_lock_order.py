"""Concurrent writers of one end user wait for each other and never deadlock.

Each pair runs once per statement of the first writer, which pauses there while the second one writes; an ordinary run
leaves out most statements (`tests/soak.py`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from apps.intake.accept import Submission, accept
from apps.memories.live_ports import live
from apps.memories.models import Memory
from apps.memories.querysets import MemoryQuerySet
from apps.memories.services.revising import Revision, retract, revise
from apps.memories.services.store import StoreRequest, store
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import MemoryType, Role, WorkState
from apps.pipeline.core.identifiers import end_user_id
from apps.pipeline.core.statement import Mention
from apps.pipeline.core.turn import NewTurn
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.tenants.models import Project
from apps.worker.process_user import process_user
from tests.outbox.outbox_factories import claim
from tests.outbox.second_connection import Aside
from tests.soak import pauses

pytestmark = pytest.mark.django_db(transaction=True)

MOST_STATEMENTS = 80


@dataclass(frozen=True, slots=True)
class Person:
    """An end user of a project, new for each pair of actions."""

    project: Project
    name: str

    def says(self, content: str) -> None:
        turns = (NewTurn(role=Role.USER, content=content),)
        accept(submission=Submission(self.project.id, None, self.name, "monday", turns))

    def is_worked_for(self) -> None:
        """Do the due work, unless another worker has the lease."""
        for lease in claim(only=end_user_id(project_id=self.project.id, user_id=self.name)):
            process_user(lease=lease, ports=live())


Do = Callable[[Person], None]


def accept_more(person: Person) -> None:
    person.says("I work as a nurse.")


def store_one(person: Person, content: str = "They have lived in Porto.") -> None:
    memory = NewMemory(type=MemoryType.FACT, content=content, subject=Mention("User"))
    store(request=StoreRequest(person.project.id, None, person.name, (memory,)))


def revise_one(person: Person) -> None:
    memory = memories_of(person)[0]
    revise(revision=Revision(person.project.id, memory.id, {"content": f"{memory.content} Still."}))


def retract_one_without_vectors(person: Person) -> None:
    retract(project_id=person.project.id, memory_id=memories_of(person).filter(content__endswith="canary.")[0].id)


def memories_of(person: Person) -> MemoryQuerySet:
    return Memory.objects.filter(end_user__external_id=person.name).order_by("id")


@pytest.fixture
def people(transactional_db: None, project: Project) -> Iterator[Person]:
    """End users with two memories to be indexed, one for the first time, and a trace that merges into the other."""

    def prepared() -> Iterator[Person]:
        for place in pauses(MOST_STATEMENTS):
            person = Person(project=project, name=f"person {place}")
            person.says("I live in Lisbon.")
            person.is_worked_for()
            revise_one(person)
            store_one(person, "They have a canary.")
            person.says("I live in Lisbon. My sister is called Marta.")
            yield person

    return prepared()


def walk_through(paused: Do, other: Do, people: Iterator[Person]) -> None:
    """Pause one action before each of its statements; end after the last one."""
    for place, person in zip(pauses(MOST_STATEMENTS), people, strict=False):
        first = Aside(lambda person=person: paused(person), pause_before=place).run()
        second = Aside(lambda person=person: other(person)).run()
        assert (first.end().error, second.end().error) == (None, None), f"before {first.statements[place:][:1]}"
        person.is_worked_for()
        assert not OutboxRow.objects.exclude(state=WorkState.DONE).exists()
        if place >= len(first.statements):
            return
    raise AssertionError("more statements than anybody should need")


OTHERS = [accept_more, store_one, revise_one, retract_one_without_vectors]


@pytest.mark.parametrize("other", OTHERS)
def test_others_write_while_a_worker_stands_still(other: Do, people: Iterator[Person]) -> None:
    walk_through(Person.is_worked_for, other, people)


@pytest.mark.parametrize("other", OTHERS)
def test_a_worker_writes_while_others_stand_still(other: Do, people: Iterator[Person]) -> None:
    walk_through(other, Person.is_worked_for, people)
