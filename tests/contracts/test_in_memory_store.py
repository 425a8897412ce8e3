"""The in-memory store fulfils the contract of stores."""

from uuid import UUID

import pytest

from apps.memories.reading.in_memory_store import InMemoryStore
from apps.pipeline.core.draft import Origin, Request
from apps.pipeline.core.identifiers import new_id
from tests.contracts.store_contract import StoreContract
from tests.contracts.store_world import EMBEDDER, World
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


class TestInMemoryStore(StoreContract):
    @pytest.fixture
    def world(self) -> World:
        return InMemoryWorld()
