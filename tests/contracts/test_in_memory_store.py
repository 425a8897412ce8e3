"""The in-memory store fulfils the contract of stores."""

from uuid import UUID

import pytest

from apps.memories.reading.in_memory_store import InMemoryStore
from apps.pipeline.core.draft import Origin, Request
from apps.pipeline.core.enums import LinkKind, WorkKind
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.operations import EnqueueWork
from tests.contracts.store_contract import StoreContract
from tests.contracts.store_world import EMBEDDER, Row, World, merge, start, told
from tests.pipeline.builders import turn


class InMemoryWorld(World):
    def __init__(self) -> None:
        self.store = InMemoryStore()
        self.reader = self.writer = self.store
        self.end_user_id = new_id()
        self._turns = 0

    def request(self, *contents: str, day: int = 0) -> Request:
        origin = Origin(project_id=new_id(), end_user_id=self.end_user_id, session_id=new_id())
        self._turns += len(contents)
        turns = tuple(turn(content, position=self._turns + place, day=day) for place, content in enumerate(contents))
        return Request(trace_id=new_id(), origin=origin, turns=turns)

    def put_vector(self, *, memory_id: UUID, vector: list[float]) -> None:
        self.store.put_vector(end_user_id=self.end_user_id, memory_id=memory_id, embedder=EMBEDDER, vector=vector)

    def row(self, memory_id: UUID) -> Row | None:
        kept = self.store.state(end_user_id=self.end_user_id).memories.get(memory_id)
        if kept is None:
            return None
        memory = kept.memory
        return Row(
            status=memory.status,
            version=memory.version,
            content=memory.content,
            confidence=memory.confidence,
            superseded_by=kept.superseded_by,
            valid_until=memory.valid_until,
            review_reasons=kept.review_reasons,
        )

    def links(self) -> set[tuple[UUID, UUID, LinkKind]]:
        links = self.store.state(end_user_id=self.end_user_id).links
        return {(link.from_id, link.to_id, link.kind) for link in links}

    def queued(self) -> set[tuple[WorkKind, UUID]]:
        return {(work.kind, work.memory_id) for work in self.store.state(end_user_id=self.end_user_id).queued}


class TestInMemoryStore(StoreContract):
    @pytest.fixture
    def world(self) -> World:
        return InMemoryWorld()

    def test_a_memory_keeps_its_former_states(self) -> None:
        world = InMemoryWorld()
        started = start(world)
        request = world.request("I live in Berlin-Mitte.", day=1)
        each = told(request, "User lives in Berlin-Mitte.", subject=started.user)
        world.write(request, merge(request, each, into=started.home.memory_id))
        kept = world.store.state(end_user_id=world.end_user_id).memories[started.home.memory_id]
        assert [past.content for past in kept.past] == ["User lives in Berlin."]

    def test_a_vector_removes_the_index_work(self) -> None:
        world = InMemoryWorld()
        started = start(world)
        memory_id = started.home.memory_id
        world.write(world.request("x"), EnqueueWork(kind=WorkKind.INDEX_MEMORY, memory_id=memory_id))
        world.put_vector(memory_id=memory_id, vector=[1.0, 0.0])
        assert world.queued() == set()
