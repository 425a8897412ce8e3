"""The memories of one end user at any time of the past, moved forward through what was written then."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from apps.memories.reading.in_memory_store import InMemoryStore
from apps.memories.reading.past_changes import PastChange, in_order, past_memories
from apps.memories.reading.past_entities import past_entities
from apps.pipeline.core.ports import Embedder


class PastState:
    """An in-memory store that is moved forward in time; changes of `left_out` traces are only made when asked for."""

    def __init__(
        self, *, end_user_id: UUID, store: InMemoryStore, embedder: Embedder, left_out: Collection[UUID] = ()
    ) -> None:
        self._end_user_id, self._store, self._embedder = end_user_id, store, embedder
        self._coming: list[PastChange] = []  # the latest first
        self._left_out: dict[UUID, list[PastChange]] = {trace_id: [] for trace_id in left_out}
        self._not_indexed: list[tuple[datetime, UUID]] = []
        memories = past_memories(end_user_id=end_user_id)
        changes = in_order([*memories.changes, *past_entities(end_user_id=end_user_id, memories=memories)])
        for change in reversed(changes):
            if change.trace_id in self._left_out:
                self._left_out[change.trace_id].insert(0, change)
            else:
                self._coming.append(change)

    def move_to(self, moment: datetime, *, without: Collection[UUID] = ()) -> None:
        """Make the changes that were written until a moment; those of traces in `without` wait for the next call."""
        waiting = []
        while self._coming and self._coming[-1].at <= moment:
            change = self._coming.pop()
            if change.trace_id in without:
                waiting.append(change)
            else:
                self._make(change)
        self._coming += reversed(waiting)

    def make_recorded(self, trace_id: UUID) -> None:
        """Make the changes that a trace has made when it ran, in place of a replay of it."""
        for change in self._left_out.get(trace_id, ()):
            self._make(change)

    def owe_vectors(self, memory_ids: Collection[UUID], *, since: datetime) -> None:
        """Note memories that have a new content since a moment."""
        self._not_indexed += [(since, memory_id) for memory_id in memory_ids]

    def index(self, *, accepted_at: datetime) -> None:
        """Compute the vectors that were owed before a request was accepted: work is done in this order."""
        state = self._store.state(end_user_id=self._end_user_id)
        due = dict.fromkeys(each for since, each in self._not_indexed if since < accepted_at and each in state.memories)
        self._not_indexed = [each for each in self._not_indexed if each[0] >= accepted_at]
        vectors = self._embedder.embed([state.memories[each].memory.content for each in due]) if due else []
        for memory_id, vector in zip(due, vectors, strict=True):
            self._store.put_vector(
                end_user_id=self._end_user_id, memory_id=memory_id, embedder=self._embedder.name, vector=vector
            )

    def _make(self, change: PastChange) -> None:
        state = self._store.state(end_user_id=self._end_user_id)
        self._store.put(end_user_id=self._end_user_id, state=change.apply(state))
        if change.new_content_of is not None:
            self._not_indexed.append((change.at, change.new_content_of))
