"""Count how often memories are retrieved, in batches of a few seconds, so that a search writes nothing itself.

The counts slow down the decay of memories, and evaluation asks what became of those that were retrieved. A killed
process loses the counts that it has not written yet.
"""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db import DatabaseError, connection

from apps.outbox.fetch import fetch_each
from apps.tenants.system_scope import SystemWork, system_scope

log = structlog.get_logger(__name__)

USERS_AT_ONCE = 100  # in a transaction, which keeps their rows locked until its end
MOST_WAITING = 50_000  # memories; further ones are not counted until these are written

# Rows that another transaction has locked are skipped. The others are locked in one order, which prevents deadlocks.
_COUNT = """
with noted as (
    select * from unnest(%(memories)s::uuid[], %(counts)s::int[], %(moments)s::timestamptz[]) as noted(id, count, at)
), free as (
    select m.id, noted.count, noted.at
    from noted join memories_memory m on m.end_user_id = %(end_user)s and m.id = noted.id
    order by m.id for no key update of m skip locked
)
update memories_memory m
set access_count = m.access_count + free.count, last_accessed = greatest(m.last_accessed, free.at),
    first_accessed = coalesce(m.first_accessed, free.at)
from free where m.end_user_id = %(end_user)s and m.id = free.id
returning 1
"""


@dataclass(slots=True)
class Accesses:
    """The retrievals since the last count, by end user and memory; shared by the threads of a process."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    waiting: dict[tuple[UUID, UUID], tuple[int, datetime]] = field(default_factory=dict)
    timer: threading.Timer | None = None

    def note(self, *, end_user_id: UUID, memory_ids: Iterable[UUID], at: datetime) -> None:
        """Note that these memories were retrieved, and start the timer that will count them."""
        if not settings.ACCESS_FLUSH_SECONDS:
            return
        with self.lock:
            for memory_id in memory_ids:
                key = (end_user_id, memory_id)
                known = self.waiting.get(key)
                if known is not None or len(self.waiting) < MOST_WAITING:
                    self.waiting[key] = (known[0] + 1 if known else 1, at)
            if self.waiting and self.timer is None:
                self.timer = threading.Timer(settings.ACCESS_FLUSH_SECONDS, self._count_in_thread)
                self.timer.daemon = True
                self.timer.start()

    def count(self) -> int:
        """Write the waiting counts; return of how many memories. Raises DatabaseError."""
        with self.lock:
            waiting, self.waiting = self.waiting, {}
        if not waiting:
            return 0
        by_user: dict[UUID, list[tuple[UUID, int, datetime]]] = {}
        for (end_user_id, memory_id), (count, at) in sorted(waiting.items()):
            by_user.setdefault(end_user_id, []).append((memory_id, count, at))
        with system_scope(SystemWork.SCHEDULE):
            for first in range(0, len(by_user), USERS_AT_ONCE):
                some = list(by_user.items())[first : first + USERS_AT_ONCE]
                fetch_each(_COUNT, [_values(end_user_id, noted) for end_user_id, noted in some])
        return len(waiting)

    def _count_in_thread(self) -> None:
        """Count in the timer's thread, and close its database connection afterwards."""
        with self.lock:
            self.timer = None
        try:
            self.count()
        except DatabaseError as error:
            log.warning("accesses not counted", error=str(error))
        finally:
            connection.close()


ACCESSES = Accesses()


def _values(end_user_id: UUID, noted: Sequence[tuple[UUID, int, datetime]]) -> dict[str, Any]:
    memories, counts, moments = (list(column) for column in zip(*noted, strict=True))
    return {"end_user": end_user_id, "memories": memories, "counts": counts, "moments": moments}
