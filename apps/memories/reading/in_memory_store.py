"""The store without a database: reads and writes like the PostgreSQL one, for dry runs, replays and benchmarks."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from math import log
from uuid import UUID

from apps.memories.reading.memory_state import MemoryState, StoredState, remember
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
        """Return everything that is stored of an end user."""
        return self._states.get(end_user_id, MemoryState())

    def put(self, *, end_user_id: UUID, state: MemoryState) -> None:
        """Start from a past state, as a replay does."""
        self._states[end_user_id] = state

    # PlanWriter

    def apply(self, *, draft: Draft, plan: WritePlan) -> None:
        """Apply a plan. Raises StalePlan; nothing is written then."""
        end_user_id = draft.request.origin.end_user_id
        self._states[end_user_id] = remember(state=self.state(end_user_id=end_user_id), plan=plan, now=self._now())

    # The index

    def put_vector(self, *, end_user_id: UUID, memory_id: UUID, embedder: str, vector: Vector) -> None:
        """Store the vector of a memory's content, and remove its index work from the queue."""
        state = self.state(end_user_id=end_user_id)
        stored = state.memories[memory_id]
        indexed = state.with_memory(replace(stored, vectors={**stored.vectors, embedder: vector}))
        queued = tuple(each for each in indexed.queued if each.memory_id != memory_id)
        self.put(end_user_id=end_user_id, state=replace(indexed, queued=queued))

    # MemoryReader

    def duplicates(
        self, *, end_user_id: UUID, hashes: Sequence[str], contents: Sequence[str]
    ) -> tuple[StoredMemory, ...]:
        """Return live memories with one of the hashes or contents, in the order in which they were said."""
        live = (stored.memory for stored in self._live(end_user_id))
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
        latest_first = sorted(found, key=lambda each: each.last_mentioned_at or _LONG_AGO, reverse=True)
        return tuple(sorted(latest_first, key=lambda each: not each.is_user)[:limit])

    def relevant(
        self, *, query: RelevanceQuery, entities: int, memories: int
    ) -> tuple[tuple[KnownEntity, ...], tuple[StoredMemory, ...]]:
        """Return entities, and live memories from several lists in rotation, as the database does."""
        live = sorted(self._live(query.end_user_id), key=lambda stored: stored.memory.id, reverse=True)
        named = self._named(query)
        lists = [
            *((1, _by_cosine(live, vector, query.embedder)) for vector in query.vectors),
            *((1, ranked) for ranked in _by_words(live, query.words)),
            (1, [each for each in live if each.memory.subject_id in named]),
            (3, [each for each in live if _is_of(each, query.session_id) or query.embedder not in each.vectors]),
            (7, live),
        ]
        places: defaultdict[UUID, list[int]] = defaultdict(list)
        for first, ranked in lists:
            for place, stored in enumerate(ranked, start=first):
                places[stored.memory.id].append(place)
        best = sorted(live, key=lambda stored: stored.memory.id, reverse=True)
        best.sort(key=lambda stored: (min(places[stored.memory.id]), -_reciprocal(places[stored.memory.id])))
        known = self.entities(end_user_id=query.end_user_id, limit=entities)
        return known, tuple(stored.memory for stored in best[:memories])

    def _named(self, query: RelevanceQuery) -> set[UUID]:
        text = query.text.lower()
        found = self.state(end_user_id=query.end_user_id).entities.values()
        return {each.id for each in found for alias in each.aliases if len(alias) > 2 and alias.lower() in text}

    def neighbours(
        self, *, end_user_id: UUID, embedder: str, probes: Sequence[Probe], limit: int
    ) -> list[list[Neighbour]]:
        """Return, for each probe, live memories: its hash or sentence, those without vectors, the nearest."""
        live = list(self._live(end_user_id))
        nearest: list[list[Neighbour]] = []
        for probe in probes:
            found = [Neighbour(each.memory, _product(probe.vector, each.vectors.get(embedder))) for each in live]
            nearest.append(sorted(found, key=partial(_closeness, probe=probe), reverse=True)[:limit])
        return nearest

    def holders(
        self, *, end_user_id: UUID, slots: Sequence[Slot], ids: Sequence[UUID] = ()
    ) -> tuple[StoredMemory, ...]:
        """Return live memories that hold one of the slots or have one of the identifiers, in the order said."""
        wanted, named = {(slot.subject_id, slot.predicate) for slot in slots}, set(ids)
        live = (stored.memory for stored in self._live(end_user_id))
        found = [each for each in live if (each.subject_id, each.predicate) in wanted or each.id in named]
        return tuple(sorted(found, key=lambda memory: (memory.said_at, memory.id)))

    def _live(self, end_user_id: UUID) -> Iterator[StoredState]:
        stored = self.state(end_user_id=end_user_id).memories.values()
        return (each for each in stored if each.memory.status in LIVE_STATUSES)


def _by_cosine(live: Sequence[StoredState], vector: Vector, embedder: str) -> list[StoredState]:
    indexed = [stored for stored in live if embedder in stored.vectors]
    return sorted(indexed, key=lambda stored: _product(vector, stored.vectors[embedder]) or 0.0, reverse=True)


def _by_words(live: Sequence[StoredState], words: Sequence[Sequence[str]]) -> Iterator[list[StoredState]]:
    """Yield, for each sentence, the memories that contain its words; rare words count more."""
    folded = {stored.memory.id: f" {stored.memory.content.lower()}" for stored in live}
    holding = {word: {id for id, text in folded.items() if f" {word}" in text} for stems in words for word in stems}
    weights = {word: log(1 + len(live) / len(found)) for word, found in holding.items() if found}
    for stems in words:
        scores = {id: sum(weights[word] for word in stems if id in holding[word]) for id in folded}
        found = [stored for stored in live if scores[stored.memory.id]]
        yield sorted(found, key=lambda stored: (-scores[stored.memory.id], stored.memory.id))


def _reciprocal(places: Sequence[int]) -> float:
    return sum(1 / (10 + place) for place in places)


def _is_of(stored: StoredState, session_id: UUID) -> bool:
    return any(origin.session_id == session_id for origin in stored.origins)


def _closeness(neighbour: Neighbour, probe: Probe) -> tuple[bool, bool, bool, float, int]:
    """Return the sort key of the database: equal hash, equal sentence, without a vector, cosine, id."""
    memory, cosine = neighbour.memory, neighbour.cosine
    return (
        memory.canonical_hash == probe.canonical_hash,
        memory.content == probe.content,
        cosine is None,
        cosine or 0.0,
        -memory.id.int,
    )


def _product(one: Vector, two: Vector | None) -> float | None:
    """Return the cosine of two unit vectors, or None if one has not been computed yet."""
    return None if two is None else float(sum(x * y for x, y in zip(one, two, strict=True)))
