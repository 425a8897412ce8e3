"""If the funnel and a caller write the same statement concurrently, there is one live memory.

Each pair runs once per statement of the first writer, which pauses there while the second one writes; an ordinary run
leaves out every second statement.
"""

from collections.abc import Callable, Iterator

import pytest

from apps.common.errors import Conflict
from apps.memories.models import Entity, Memory
from apps.memories.services.revising import Revision, revise
from apps.memories.services.store import StoreRequest, store
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import LIVE_STATUSES, EntityType, MemoryType, Status, WorkState
from apps.pipeline.core.statement import Mention, ObjectValue
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.tenants.models import Project
from tests.outbox.second_connection import Aside
from tests.soak import pauses
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db(transaction=True)

TEA = NewMemory(
    type=MemoryType.PREFERENCE,
    content="User likes green tea.",
    subject=Mention("User", EntityType.PERSON),
    predicate="likes",
    object=ObjectValue(literal="green tea"),
)
MOST_STATEMENTS = 60

Do = Callable[[Person], object]


def tell(person: Person) -> None:
    person.is_worked_for()


def store_it(person: Person) -> None:
    store(request=StoreRequest(person.project.id, None, person.name, (TEA,)))


def bring_it_back(person: Person) -> str:
    """Restore an archived memory, unless another one says the same."""
    archived = Memory.objects.filter(end_user_id=person.id, content=TEA.content).earliest("id")
    try:
        revise(revision=Revision(person.project.id, archived.id, {"status": Status.ACTIVE}, may_review=True))
    except Conflict as conflict:
        return str(conflict)
    return ""


def nobody(person: Person) -> None:
    """Leave the end user unknown."""


def known(person: Person) -> None:
    person.says("I work as a nurse.")
    person.is_worked_for()


def with_the_same_archived(person: Person) -> None:
    store_it(person)
    Memory.objects.filter(end_user_id=person.id).update(status=Status.ARCHIVED)


def people(project: Project, before: Do) -> Iterator[Person]:
    for place in pauses(MOST_STATEMENTS):
        person = Person(project, f"person {place}")
        before(person)
        person.says("I like green tea.")
        yield person


def walk_through(paused: Do, other: Do, people: Iterator[Person]) -> None:
    """Pause one before each of its statements; end where it has no more of them."""
    for place, person in zip(pauses(MOST_STATEMENTS), people, strict=False):
        first = Aside(lambda person=person: paused(person), pause_before=place).run()
        second = Aside(lambda person=person: other(person)).run()
        where = f"before {first.statements[place:][:1]}"
        assert (first.end().error, second.end().error) == (None, None), where
        person.is_worked_for()
        assert Memory.objects.filter(end_user_id=person.id, content=TEA.content, status__in=LIVE_STATUSES).count() == 1
        assert Entity.objects.filter(end_user_id=person.id, is_user=True).count() == 1
        assert not OutboxRow.objects.exclude(state=WorkState.DONE).exists(), where
        if place >= len(first.statements):
            return
    raise AssertionError("more statements than anybody should need")


WRITERS = pytest.mark.parametrize(
    ("before", "write"), [(nobody, store_it), (known, store_it), (with_the_same_archived, bring_it_back)]
)


@WRITERS
def test_a_caller_writes_while_the_funnel_stands_still(project: Project, before: Do, write: Do) -> None:
    walk_through(tell, write, people(project, before))


@WRITERS
def test_the_funnel_writes_while_a_caller_stands_still(project: Project, before: Do, write: Do) -> None:
    walk_through(write, tell, people(project, before))
