"""Cache per process of the memories of end users that are searched repeatedly, as arrays for ranking.

The first search of an end user caches nothing, the second one reads and caches all vectors. Each later search reads
only the memories that have changed since the cached revision, so it sees the committed writes of all processes.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from typing import Any, Self
from uuid import UUID

import numpy as np
from cachetools import LRUCache
from django.conf import settings
from numpy.typing import NDArray

from apps.memories.search.apply_delta import apply_delta, remove
from apps.memories.search.query_sql import VectorForm
from apps.memories.search.snapshot import Rows, Vectors, moment_of
from apps.pipeline.retrieval.ranking import Sessions

MOST_SEEN = 10_000  # end users that were searched once and are not cached
SHARE_OF_ONE = 4  # one end user gets at most a quarter of the cache
OVERHEAD = 4_096  # upper estimate of the bytes per end user in addition to the arrays
# Upper estimates of the bytes of a memory with five vectors of a dimension, in the preferred form first.
_BYTES: dict[VectorForm, Callable[[int], int]] = {
    VectorForm.HALVES: lambda dimension: dimension * 10,
    VectorForm.SIGNS: lambda dimension: dimension * 5 // 8 + 400,
}
Key = tuple[UUID, str, int, str]  # end user, embedder, dimension, agent if only what it told is searched


@dataclass(frozen=True, slots=True)
class CachedUser:
    """All searchable memories of one end user at one revision, as they were read at the time `since`."""

    revision: int
    since: datetime
    rows: Rows
    vectors: Vectors
    sessions: Sessions

    @classmethod
    def of(cls, *, revision: int, since: datetime, rows: Rows, vectors: Vectors) -> Self:
        """Return an entry, with its session index computed once for all searches."""
        return cls(revision=revision, since=since, rows=rows, vectors=vectors, sessions=rows.in_sessions())

    def at(self, moment: datetime) -> Self | None:
        """Return the entry without memories that have expired by a time; None for a time before it was read."""
        if moment < self.since:
            return None
        stay = self.rows.ends_at > moment_of(moment)
        if stay.all():
            return self
        rows, vectors = remove(rows=self.rows, vectors=self.vectors, stay=stay)
        return self.of(revision=self.revision, since=moment, rows=rows, vectors=vectors)

    def changed(
        self, *, revision: int, moment: datetime, changed: NDArray[np.uint64], rows: Rows, vectors: Vectors
    ) -> Self:
        """Return the entry at a later revision.

        `changed` are the ids of all changed memories; `rows` and `vectors` are those of them that are still searchable.
        """
        stay = ~np.isin(self.rows.ids[:, 1], changed[:, 1])
        new_rows, new_vectors = apply_delta(
            rows=self.rows, vectors=self.vectors, stay=stay, new_rows=rows, new_vectors=vectors
        )
        return self.of(revision=revision, since=moment, rows=new_rows, vectors=new_vectors)


class SearchCache:
    """A least-recently-used cache of limited size, shared by the threads of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.clear()

    def find(self, key: Key, *, moment: datetime) -> CachedUser | None:
        """Return the entry as of a time, at any revision."""
        with self._lock:
            entry = self.entries.get(key)
        current = entry.at(moment) if entry else None
        if current and current is not entry:
            self.put(key, current)
        return current

    def form_of(self, key: Key) -> VectorForm | None:
        """Return in which form the vectors are to be cached; None if this was not searched before or is too large."""
        with self._lock:
            return self.seen.get(key)

    def mark_seen(self, key: Key, *, rows: int) -> None:
        """Record that this was searched, unless so many memories are too large to be cached."""
        forms = [form for form, size in _BYTES.items() if self._fits(OVERHEAD + rows * size(key[2]))]
        if forms:
            with self._lock:
                self.seen[key] = forms[0]

    def put(self, key: Key, entry: CachedUser) -> None:
        """Store an entry, and evict the least recently used ones that no longer fit."""
        with self._lock:
            self.seen.pop(key, None)
            if self._fits(_bytes_of(entry)):
                self.entries[key] = entry
            else:  # it has grown
                self.entries.pop(key, None)

    def forget(self, key: Key) -> None:
        """Remove an entry."""
        with self._lock:
            self.entries.pop(key, None)

    def clear(self) -> None:
        """Remove all entries, and read the maximum size from the settings again."""
        with self._lock:
            self.entries: LRUCache[Key, CachedUser] = LRUCache(
                maxsize=settings.SEARCH_CACHE_MB * 1_000_000, getsizeof=_bytes_of
            )
            self.seen: LRUCache[Key, VectorForm] = LRUCache(maxsize=MOST_SEEN)

    def _fits(self, size: int) -> bool:
        return size * SHARE_OF_ONE <= self.entries.maxsize


def _bytes_of(entry: CachedUser) -> int:
    return OVERHEAD + size_of(entry)


CACHE = SearchCache()


def size_of(value: Any) -> int:
    """Return the size in bytes of all arrays in a value."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, tuple):
        return sum(map(size_of, value))
    return sum(size_of(getattr(value, each.name)) for each in fields(value)) if is_dataclass(value) else 0
