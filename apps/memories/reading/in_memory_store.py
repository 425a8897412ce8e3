"""The store without a database: reads and writes like the PostgreSQL one, for dry runs, replays and benchmarks."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from apps.memories.reading.memory_state import MemoryState, StoredState, remember
from apps.pipeline.core.draft import Draft, KnownEntity
from apps.pipeline.core.enums import LIVE_STATUSES
from apps.pipeline.core.operations import EnqueueWork
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import Neighbour, Probe, RelevanceQuery, Slot, Vector
from apps.pipeline.core.statement import StoredMemory

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class InMemoryStore:
    """Both ports of the memories, on one shelf an end user; a plan is applied as a whole or not at all."""

    def __init__(self, *, now: Callable[[], datetime] = _utc_now) -> None:
        self._now = now
        self._shelves: dict[UUID, MemoryState] = {}

    def state(self, *, end_user_id: UUID) -> MemoryState:
        """Return everything that is kept of an end user."""
        return self._shelves.get(end_user_id, MemoryState())

    def put(self, *, end_user_id: UUID, state: MemoryState) -> None:
        """Start from a past state, as a replay does."""
        self._shelves[end_user_id] = state

    # PlanWriter

    def apply(self, *, draft: Draft, plan: WritePlan) -> None:
        """Apply a plan. Raises StalePlan, having written nothing."""
        end_user_id = draft.request.origin.end_user_id
        self._shelves[end_user_id] = remember(state=self.state(end_user_id=end_user_id), plan=plan, now=self._now())

    # The index

    def put_vector(self, *, end_user_id: UUID, memory_id: UUID, embedder: str, vector: Vector) -> None:
        """Keep the vector of a memory's content, which pays the work that its writing owed."""
        state = self.state(end_user_id=end_user_id)
        kept = state.memories[memory_id]
        indexed = state.with_memory(replace(kept, vectors={**kept.vectors, embedder: vector}))
        self.put(end_user_id=end_user_id, state=replace(indexed, owed=_without(indexed.owed, memory_id)))

    # MemoryReader

    def duplicates(
        self, *, end_user_id: UUID, hashes: Sequence[str], contents: Sequence[str]
    ) -> tuple[StoredMemory, ...]:
        """Return live memories of one of the hashes or wordings, in the order in which they were said."""
        live = (kept.memory for kept in self._live(end_user_id))
        found = [each for each in live if each.canonical_hash in hashes or each.content in contents]
        return tuple(sorted(found, key=lambda memory: (memory.said_at, memory.id)))

    def one(self, *, end_user_id: UUID, memory_id: UUID) -> StoredMemory:
        """Return a memory, live or not. Raises LookupError where the end user has no such memory."""
        kept = self.state(end_user_id=end_user_id).memories.get(memory_id)
        if kept is None:
            raise LookupError(f"there is no memory {memory_id}")
        return kept.memory

    def entities(self, *, end_user_id: UUID, limit: int) -> tuple[KnownEntity, ...]:
        """Return entities with their aliases, the user first, then the most recently mentioned."""
        found = self.state(end_user_id=end_user_id).entities.values()
        latest_first = sorted(found, key=lambda each: each.last_mentioned_at or _LONG_AGO, reverse=True)
        return tuple(sorted(latest_first, key=lambda each: not each.is_user)[:limit])

    def relevant(
        self, *, query: RelevanceQuery, entities: int, memories: int
    ) -> tuple[tuple[KnownEntity, ...], tuple[StoredMemory, ...]]:
        """Return entities, and live memories by the sum of their reciprocal ranks, as the database does."""
        live = sorted(self._live(query.end_user_id), key=lambda kept: kept.memory.id, reverse=True)
        named = self._named(query)
        lists = [
            *((2.0, _by_cosine(live, vector, query.embedder)) for vector in query.vectors),
            (1.5, [kept for kept in live if kept.memory.subject_id in named]),
            (1.0, [kept for kept in live if _is_of(kept, query.session_id) or query.embedder not in kept.vectors]),
            (0.5, live),
        ]
        scores: defaultdict[UUID, float] = defaultdict(float)
        for weight, ranked in lists:
            for rank, kept in enumerate(ranked, start=1):
                scores[kept.memory.id] += weight / (10 + rank)
        best = sorted(live, key=lambda kept: (scores[kept.memory.id], kept.memory.id), reverse=True)
        known = self.entities(end_user_id=query.end_user_id, limit=entities)
        return known, tuple(kept.memory for kept in best[:memories])

    def _named(self, query: RelevanceQuery) -> set[UUID]:
        text = query.text.lower()
        found = self.state(end_user_id=query.end_user_id).entities.values()
        return {each.id for each in found for alias in each.aliases if len(alias) > 2 and alias.lower() in text}

    def neighbours(
        self, *, end_user_id: UUID, embedder: str, probes: Sequence[Probe], limit: int
    ) -> list[list[Neighbour]]:
        """Return, for each probe, live memories: its hash or sentence, those without vectors, the nearest."""
        live = list(self._live(end_user_id))
        return [_nearest(live, probe=probe, embedder=embedder)[:limit] for probe in probes]

    def holders(
        self, *, end_user_id: UUID, slots: Sequence[Slot], ids: Sequence[UUID] = ()
    ) -> tuple[StoredMemory, ...]:
        """Return live memories that hold one of the slots or have one of the identifiers, in the order said."""
        wanted, named = set(slots), set(ids)
        live = (kept.memory for kept in self._live(end_user_id))
        found = [memory for memory in live if _slot(memory) in wanted or memory.id in named]
        return tuple(sorted(found, key=lambda memory: (memory.said_at, memory.id)))

    def _live(self, end_user_id: UUID) -> Iterator[StoredState]:
        kept = self.state(end_user_id=end_user_id).memories.values()
        return (each for each in kept if each.memory.status in LIVE_STATUSES)


def _slot(memory: StoredMemory) -> Slot | None:
    return Slot(subject_id=memory.subject_id, predicate=memory.predicate) if memory.subject_id else None


def _without(owed: tuple[EnqueueWork, ...], memory_id: UUID) -> tuple[EnqueueWork, ...]:
    return tuple(each for each in owed if each.memory_id != memory_id)


def _by_cosine(live: Sequence[StoredState], vector: Vector, embedder: str) -> list[StoredState]:
    indexed = [kept for kept in live if embedder in kept.vectors]
    return sorted(indexed, key=lambda kept: _product(vector, kept.vectors[embedder]) or 0.0, reverse=True)


def _is_of(kept: StoredState, session_id: UUID) -> bool:
    return any(origin.session_id == session_id for origin in kept.origins)


def _nearest(live: Sequence[StoredState], *, probe: Probe, embedder: str) -> list[Neighbour]:
    found = [Neighbour(memory=kept.memory, cosine=_product(probe.vector, kept.vectors.get(embedder))) for kept in live]
    return sorted(found, key=lambda each: _closeness(each, probe), reverse=True)


def _closeness(neighbour: Neighbour, probe: Probe) -> tuple[bool, bool, bool, float, int]:
    """Order as the database does: the equal hash, equal sentences, those without vectors, by cosine, by id."""
    memory, cosine = neighbour.memory, neighbour.cosine
    return (
        memory.canonical_hash == probe.canonical_hash,
        memory.content == probe.content,
        cosine is None,
        cosine or 0.0,
        -memory.id.int,
    )


def _product(one: Vector, two: Vector | None) -> float | None:
    """Return the cosine of two unit vectors, or None where one is still owed."""
    return None if two is None else float(sum(x * y for x, y in zip(one, two, strict=True)))
