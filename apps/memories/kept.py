"""What a process keeps of end users who are searched again and again: their memories as ranking takes them.

Nothing is kept at the first search; at the next one, if nothing has changed, the vectors are read whole. What is kept
counts only at the revision that the database tells with every search: a write by whichever process is seen by the next.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from django.conf import settings

from apps.memories.searched import Rows, Vectors

MOST_SEEN = 10_000  # end users of whom only the revision is known
SHARE_OF_ONE = 4  # nobody takes more than this part of the memory that may be taken
OVERHEAD = 4_096  # bytes that somebody takes beside the arrays, more than it is
NOTHING = -1  # no revision
Key = tuple[UUID, str, int]  # end user, embedder, dimension


@dataclass(frozen=True, slots=True)
class Kept:
    """Everything of one end user at one revision, as it was read at a moment."""

    revision: int
    since: datetime
    rows: Rows
    vectors: Vectors

    def counts_at(self, moment: datetime) -> bool:
        """Tell whether no memory has come or gone by the passing of time alone."""
        return self.since <= moment and (self.rows.until is None or moment < self.rows.until)


@dataclass(slots=True)
class Keeper:
    """What is kept, the longest unused first to go; threads of one process share it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    kept: OrderedDict[Key, Kept] = field(default_factory=OrderedDict)
    seen: OrderedDict[Key, int] = field(default_factory=OrderedDict)  # a revision that was searched once
    taken: int = 0  # bytes

    def find(self, key: Key) -> Kept | None:
        """Return what is kept, at whatever revision."""
        with self.lock:
            if key in self.kept:
                self.kept.move_to_end(key)
            return self.kept.get(key)

    def wanted(self, key: Key) -> int:
        """Return the revision at which this has been searched before, if any."""
        with self.lock:
            return self.seen.get(key, NOTHING)

    def see(self, key: Key, *, revision: int, rows: int) -> None:
        """Remember that so many memories were searched, if they may be kept next time."""
        _, _, dimension = key
        with self.lock:
            if (OVERHEAD + rows * dimension * 10) * SHARE_OF_ONE > _allowed():  # five vectors of two bytes a number
                return
            self.seen[key] = revision
            self.seen.move_to_end(key)
            if len(self.seen) > MOST_SEEN:
                self.seen.popitem(last=False)

    def keep(self, key: Key, kept: Kept) -> None:
        """Keep this, and as much of the rest as there is room for."""
        with self.lock:
            self.seen.pop(key, None)
            self._drop(key)
            self.kept[key] = kept
            self.taken += OVERHEAD + size_of(kept)
            while self.taken > _allowed():
                self._drop(next(iter(self.kept)))

    def clear(self) -> None:
        """Forget everything."""
        with self.lock:
            self.kept.clear()
            self.seen.clear()
            self.taken = 0

    def _drop(self, key: Key) -> None:
        former = self.kept.pop(key, None)
        if former is not None:
            self.taken -= OVERHEAD + size_of(former)


KEEPER = Keeper()


def size_of(value: Any) -> int:
    """Return how many bytes the arrays within take."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    return sum(size_of(getattr(value, each.name)) for each in fields(value)) if is_dataclass(value) else 0


def _allowed() -> int:
    return settings.SEARCH_CACHE_MB * 1_000_000
