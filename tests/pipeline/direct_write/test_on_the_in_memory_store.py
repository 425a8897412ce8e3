"""Direct store works with the in-memory store, without a database."""

from datetime import timedelta
from uuid import UUID

import pytest

from apps.memories.reading.in_memory_store import InMemoryStore
from apps.pipeline.core.draft import Draft, Request
from apps.pipeline.core.enums import MemoryType, Status
from apps.pipeline.core.memory_conversion import as_stored
from apps.pipeline.core.operations import AddEntity
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.statement import Mention, ObjectValue
from apps.pipeline.direct_write.dedupe import DirectWriteSession, read_met
from apps.pipeline.direct_write.new_memory import NewMemory, add_memory
from apps.pipeline.resolution.entity_index import EntityIndex
from tests.pipeline.builders import MONDAY, ORIGIN, CountedIds


class DirectWriter:
    """Stores memories of one end user, one request after the other."""

    def __init__(self) -> None:
        self.store, self.ids, self.policy = InMemoryStore(), CountedIds(), Policy()

    def write(self, new: NewMemory) -> UUID:
        user = ORIGIN.end_user_id
        directory = EntityIndex(entities=self.store.entities(end_user_id=user, limit=50), new_id=self.ids.new)
        add = add_memory(new, memory_id=self.ids.new(), index=0, directory=directory, policy=self.policy, now=MONDAY)
        met = read_met([as_stored(add)], end_user_id=user, reader=self.store)
        session = DirectWriteSession(known=met, policy=self.policy)
        stored = session.settle(add)
        entities = (AddEntity(entity=each) for each in directory.new_entities)
        added = (stored.adds,) if stored.adds else ()
        draft = Draft.start(request=Request(trace_id=self.ids.new(), origin=ORIGIN, turns=()), policy=self.policy)
        self.store.apply(draft=draft, plan=WritePlan(operations=(*entities, *added, *session.changes)))
        return stored.memory_id

    def status(self, memory_id: UUID) -> Status:
        return self.store.one(end_user_id=ORIGIN.end_user_id, memory_id=memory_id).status


@pytest.fixture
def direct() -> DirectWriter:
    return DirectWriter()


def lives_in(place: str, *, day: int) -> NewMemory:
    return NewMemory(
        type=MemoryType.FACT,
        subject=Mention("User"),
        predicate="lives_in",
        object=ObjectValue(literal=place),
        content=f"User lives in {place}.",
        stateful=True,
        said_at=MONDAY + timedelta(days=day),
    )


def test_what_is_known_is_not_stored_again(direct: DirectWriter) -> None:
    assert direct.write(lives_in("Porto", day=0)) == direct.write(lives_in("Porto", day=1))


def test_the_value_said_last_is_left(direct: DirectWriter) -> None:
    porto = direct.write(lives_in("Porto", day=1))
    lisbon = direct.write(lives_in("Lisbon", day=2))
    oslo = direct.write(lives_in("Oslo", day=0))
    assert [direct.status(each) for each in (porto, lisbon, oslo)] == [
        Status.SUPERSEDED, Status.ACTIVE, Status.SUPERSEDED,
    ]  # fmt: skip
