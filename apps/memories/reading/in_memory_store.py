"""The store without a database: reads and writes like the PostgreSQL one, for dry runs, replays and benchmarks."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from uuid import UUID

import numpy as np

from apps.memories.reading.memory_state import MemoryState, StoredState, remember
from apps.memories.reading.relevance import LiveMemory, most_relevant
from apps.pipeline.core.draft import Draft, KnownEntity
from apps.pipeline.core.enums import LIVE_STATUSES
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import Neighbour, Probe, RelevanceQuery, Slot, Vector
from apps.pipeline.core.statement import StoredMemory

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class InMemoryStore:
    """Both ports of the memories, with one state per end user; a plan is applied as a whole or not at all."""

    def __init__(self, *, now: Callable[[], datetime] | None = None) -> None:
        self._now = now or partial(datetime.now, UTC)
        self._states: dict[UUID, MemoryState] = {}

    def state(self, *, end_user_id: UUID) -> MemoryState:
        """Return what is stored of an end user."""
        return self._states.get(end_user_id, MemoryState())

    def put(self, *, end_user_id: UUID, state: MemoryState) -> None:
        """Start from a past state, as a replay does."""
        self._states[end_user_id] = state

    # PlanWriter

    def apply(self, *, draft: Draft, plan: WritePlan) -> None:
        """Apply a plan. Raises StalePlan; nothing is written then."""
        end_user_id = draft.request.origin.end_user_id
        state = self.state(end_user_id=end_user_id)
        self._states[end_user_id] = remember(state=state, plan=plan, now=self._now(), request=draft.request)

    # The index

    def put_vector(self, *, end_user_id: UUID, memory_id: UUID, embedder: str, vector: Vector) -> None:
        """Store the vector of a memory's content."""
        state = self.state(end_user_id=end_user_id)
        stored = state.memories[memory_id]
        halved = np.asarray(vector, dtype=np.float16)
        indexed = replace(stored, vectors={**stored.vectors, embedder: halved})
        self.put(end_user_id=end_user_id, state=state.with_memory(indexed))

    # MemoryReader

    def duplicates(
        self, *, end_user_id: UUID, hashes: Sequence[str], contents: Sequence[str], private_to: str = ""
    ) -> tuple[StoredMemory, ...]:
        """Return live memories with one of the hashes or contents, in the order in which they were said."""
        live = (stored.memory for stored in self._live(end_user_id, private_to))
        found = [each for each in live if each.canonical_hash in hashes or each.content in contents]
        return tuple(sorted(found, key=lambda memory: (memory.said_at, memory.id)))

    def one(self, *, end_user_id: UUID, memory_id: UUID) -> StoredMemory:
        """Return a memory, live or not. Raises LookupError if the end user has no such memory."""
        stored = self.state(end_user_id=end_user_id).memories.get(memory_id)
        if stored is None:
            raise LookupError(f"there is no memory {memory_id}")
        return stored.memory

    def entities(self, *, end_user_id: UUID, limit: int) -> tuple[KnownEntity, ...]:
        """Return entities with their aliases, the user first, then the most recently mentioned."""
        found = self.state(end_user_id=end_user_id).entities.values()
        by_id = sorted(found, key=lambda each: each.id)
        latest_first = sorted(by_id, key=lambda each: each.last_mentioned_at or _LONG_AGO, reverse=True)
        return tuple(sorted(latest_first, key=lambda each: not each.is_user)[:limit])

    def all_if_few(
        self, *, end_user_id: UUID, entities: int, memories: int, private_to: str = ""
    ) -> tuple[tuple[KnownEntity, ...], tuple[StoredMemory, ...] | None]:
        """Return entities, and all live memories, the latest first; None where there are more than `memories`."""
        found = (each.memory for each in self._live(end_user_id, private_to))
        live = sorted(found, key=lambda memory: memory.id, reverse=True)
        known = self.entities(end_user_id=end_user_id, limit=entities)
        return known, tuple(live) if len(live) <= memories else None

    def relevant(self, *, query: RelevanceQuery, memories: int) -> tuple[StoredMemory, ...]:
        """Return live memories, the most relevant first."""
        live = {each.memory.id: each for each in self._live(query.end_user_id, query.private_to)}
        text, entities = query.text.lower(), self.state(end_user_id=query.end_user_id).entities.values()
        indexed = [each for each in live.values() if query.embedder in each.vectors]
        indexed.sort(key=lambda stored: stored.memory.id)
        nearest: list[list[UUID]] = []
        for cosines in _cosines(indexed, query.vectors, query.embedder):
            places = sorted(range(len(indexed)), key=lambda place: -(cosines[place] or 0.0))
            nearest.append([indexed[place].memory.id for place in places[:memories]])
        ids = most_relevant(
            live=[
                LiveMemory(
                    id=each.memory.id,
                    subject_id=each.memory.subject_id,
                    session_id=each.session_id,
                    created_at=each.created_at,
                    event_at=each.memory.event_at,
                    content=each.memory.content,
                    is_indexed=query.embedder in each.vectors,
                )
                for each in live.values()
            ],
            query=query,
            nearest=nearest,
            named={each.id for each in entities for name in each.aliases if len(name) > 2 and name.lower() in text},
            most=memories,
        )
        return tuple(live[memory_id].memory for memory_id in ids)

    def neighbours(
        self, *, end_user_id: UUID, embedder: str, probes: Sequence[Probe], limit: int, private_to: str = ""
    ) -> list[list[Neighbour]]:
        """Return, for each probe, live memories: its hash or sentence, those without vectors, the nearest."""
        live = list(self._live(end_user_id, private_to))
        nearest: list[list[Neighbour]] = []
        for probe, cosines in zip(probes, _cosines(live, [each.vector for each in probes], embedder), strict=True):
            found = [Neighbour(each.memory, cosine) for each, cosine in zip(live, cosines, strict=True)]
            found.sort(
                key=lambda each: (  # as the database orders them
                    each.memory.canonical_hash == probe.canonical_hash,
                    each.memory.content == probe.content,
                    each.cosine is None,
                    each.cosine or 0.0,
                    -each.memory.id.int,
                ),
                reverse=True,
            )
            nearest.append(found[:limit])
        return nearest

    def holders(
        self, *, end_user_id: UUID, slots: Sequence[Slot], ids: Sequence[UUID] = (), private_to: str = ""
    ) -> tuple[StoredMemory, ...]:
        """Return live memories that hold one of the slots or have one of the identifiers, in the order said."""
        wanted, named = {(slot.subject_id, slot.predicate) for slot in slots}, set(ids)
        live = (stored.memory for stored in self._live(end_user_id, private_to))
        found = [each for each in live if (each.subject_id, each.predicate) in wanted or each.id in named]
        return tuple(sorted(found, key=lambda memory: (memory.said_at, memory.id)))

    def _live(self, end_user_id: UUID, private_to: str) -> Iterator[StoredState]:
        stored = self.state(end_user_id=end_user_id).memories.values()
        live = (each for each in stored if each.memory.status in LIVE_STATUSES)
        return (each for each in live if each.memory.private_to == private_to)


def _cosines(stored: Sequence[StoredState], vectors: Sequence[Vector], embedder: str) -> Iterator[list[float | None]]:
    """Yield, for each unit vector, its cosine with each memory, or None if that has no vector yet.

    Both sides have half precision, as they have in the database.
    """
    indexed = [each.vectors[embedder] for each in stored if embedder in each.vectors]
    matrix = np.asarray(indexed, dtype=np.float32) if indexed else None
    for vector in vectors:
        probe = np.asarray(vector, dtype=np.float16).astype(np.float32)
        found = iter((matrix @ probe).tolist() if matrix is not None else ())
        yield [next(found) if embedder in each.vectors else None for each in stored]
