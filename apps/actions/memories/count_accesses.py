"""Count which memories agents were told, apart from telling them: a few seconds' worth in one statement.

The counts feed the decay of memories. What a killed process had not written yet is lost, and nothing else is.
"""

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db import DatabaseError, connection

log = structlog.get_logger(__name__)

MOST_WAITING = 50_000  # memories; further ones are not counted until these are written

# Whoever changes a memory at this moment goes first; in one order, so that two processes never wait for each other.
_COUNT = """
with noted as (
    select * from unnest(%(users)s::uuid[], %(memories)s::uuid[], %(counts)s::int[], %(moments)s::timestamptz[])
        as noted(end_user_id, id, count, at)
), free as (
    select m.end_user_id, m.id, noted.count, noted.at
    from noted join memories_memory m on m.end_user_id = noted.end_user_id and m.id = noted.id
    order by m.id for no key update of m skip locked
)
update memories_memory m
set access_count = m.access_count + free.count, last_accessed = greatest(m.last_accessed, free.at)
from free where m.end_user_id = free.end_user_id and m.id = free.id
"""


@dataclass(slots=True)
class Accesses:
    """What has been told since the last count, by end user and memory; threads of one process share it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    waiting: dict[tuple[UUID, UUID], tuple[int, datetime]] = field(default_factory=dict)
    timer: threading.Timer | None = None

    def note(self, *, end_user_id: UUID, memory_ids: Iterable[UUID], at: datetime) -> None:
        """Remember that these memories were told, and see that they will be counted."""
        if not settings.ACCESS_FLUSH_SECONDS:
            return
        with self.lock:
            for memory_id in memory_ids:
                self._add((end_user_id, memory_id), at)
            if self.waiting and self.timer is None:
                self.timer = threading.Timer(settings.ACCESS_FLUSH_SECONDS, self._count_aside)
                self.timer.daemon = True
                self.timer.start()

    def count(self) -> int:
        """Write what is waiting; return how many memories that was. Raises DatabaseError."""
        with self.lock:
            waiting, self.waiting = self.waiting, {}
        if waiting:
            _write(waiting)
        return len(waiting)

    def _add(self, key: tuple[UUID, UUID], at: datetime) -> None:
        known = self.waiting.get(key)
        if known is not None or len(self.waiting) < MOST_WAITING:
            self.waiting[key] = (known[0] + 1 if known else 1, at)

    def _count_aside(self) -> None:
        """Count in the timer's thread, which has a connection of its own for that moment."""
        with self.lock:
            self.timer = None
        try:
            self.count()
        except DatabaseError as error:
            log.warning("accesses not counted", error=str(error))
        finally:
            connection.close()


def _write(waiting: dict[tuple[UUID, UUID], tuple[int, datetime]]) -> None:
    values: dict[str, Any] = {
        "users": [end_user_id for end_user_id, _ in waiting],
        "memories": [memory_id for _, memory_id in waiting],
        "counts": [count for count, _ in waiting.values()],
        "moments": [at for _, at in waiting.values()],
    }
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, values)


ACCESSES = Accesses()
