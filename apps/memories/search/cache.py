"""What a process keeps of end users who are searched again and again: their memories as ranking takes them.

Nothing is kept at the first search; at the next one the vectors are read whole. From then on each search reads only the
memories that have changed since: a write by whichever process is seen by the next, at the revision that it made.
"""

import threading
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from typing import Any, Self
from uuid import UUID

import numpy as np
from cachetools import LRUCache
from django.conf import settings
from numpy.typing import NDArray

from apps.memories.search.apply_delta import apply_delta, without
from apps.memories.search.snapshot import Rows, Vectors, moment_of
from apps.pipeline.retrieval.ranking import Sessions

MOST_SEEN = 10_000  # end users of whom only is known that they were searched
SHARE_OF_ONE = 4  # nobody takes more than this part of the memory that may be taken
OVERHEAD = 4_096  # bytes that somebody takes beside the arrays, more than it is
Key = tuple[UUID, str, int]  # end user, embedder, dimension


@dataclass(frozen=True, slots=True)
class CachedUser:
    """Everything of one end user at one revision, as it was read at a moment."""

    revision: int
    since: datetime
    rows: Rows
    vectors: Vectors
    sessions: Sessions

    @classmethod
    def of(cls, *, revision: int, since: datetime, rows: Rows, vectors: Vectors) -> Self:
        """Return these memories to be kept, with what is the same in every search."""
        return cls(revision=revision, since=since, rows=rows, vectors=vectors, sessions=rows.in_sessions())

    def at(self, moment: datetime) -> Self | None:
        """Return what counts at a moment, as memories end by time alone; None of a moment before it was read."""
        if moment < self.since:
            return None
        stay = self.rows.ends_at > moment_of(moment)
        if stay.all():
            return self
        rows, vectors = without(rows=self.rows, vectors=self.vectors, stay=stay)
        return self.of(revision=self.revision, since=moment, rows=rows, vectors=vectors)

    def changed(
        self, *, revision: int, moment: datetime, changed: NDArray[np.uint64], rows: Rows, vectors: Vectors
    ) -> Self:
        """Return what counts at a later revision: `rows` and `vectors` are of the changed ones that still count."""
        stay = ~np.isin(self.rows.ids[:, 1], changed[:, 1])
        joined, theirs = apply_delta(rows=self.rows, vectors=self.vectors, stay=stay, more=rows, their=vectors)
        return self.of(revision=revision, since=moment, rows=joined, vectors=theirs)


class SearchCache:
    """What is kept, the longest unused first to go; threads of one process share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.clear()

    def find(self, key: Key, *, moment: datetime) -> CachedUser | None:
        """Return what is kept and counts at a moment, at whatever revision."""
        with self._lock:
            kept = self.kept.get(key)
        counting = kept.at(moment) if kept else None
        if counting and counting is not kept:
            self.keep(key, counting)
        return counting

    def was_seen(self, key: Key) -> bool:
        """Return True if this was searched before, and may be kept."""
        with self._lock:
            return key in self.seen or key in self.kept

    def see(self, key: Key, *, rows: int) -> None:
        """Remember that so many memories were searched, if they may be kept next time."""
        if not self._may_take(key, rows):
            return
        with self._lock:
            self.seen[key] = None

    def keep(self, key: Key, kept: CachedUser) -> None:
        """Keep this, and as much of the rest as there is room for."""
        with self._lock:
            self.seen.pop(key, None)
            if self._may_take(key, len(kept.rows)):
                self.kept[key] = kept
            else:  # it has grown
                self.kept.pop(key, None)

    def forget(self, key: Key) -> None:
        """Keep nothing of this."""
        with self._lock:
            self.kept.pop(key, None)

    def clear(self) -> None:
        """Forget everything, and take the room that the settings allow from now on."""
        with self._lock:
            self.kept: LRUCache[Key, CachedUser] = LRUCache(
                maxsize=settings.SEARCH_CACHE_MB * 1_000_000, getsizeof=_bytes_of
            )
            self.seen: LRUCache[Key, None] = LRUCache(maxsize=MOST_SEEN)

    def _may_take(self, key: Key, rows: int) -> bool:
        _, _, dimension = key
        # Five vectors of two bytes per number.
        return (OVERHEAD + rows * dimension * 10) * SHARE_OF_ONE <= self.kept.maxsize


def _bytes_of(kept: CachedUser) -> int:
    return OVERHEAD + size_of(kept)


CACHE = SearchCache()


def size_of(value: Any) -> int:
    """Return how many bytes the arrays within take."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, tuple):
        return sum(map(size_of, value))
    return sum(size_of(getattr(value, each.name)) for each in fields(value)) if is_dataclass(value) else 0
