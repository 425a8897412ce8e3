"""Count how often memories are retrieved, in batches of a few seconds, so that a search writes nothing itself.

The counts slow down the decay of memories, and evaluation asks what became of those that were retrieved. A killed
process loses the counts that it has not written yet.
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

from apps.tenants.system_scope import SystemWork, system_scope

log = structlog.get_logger(__name__)

MOST_WAITING = 50_000  # memories; further ones are not counted until these are written

# Rows that another transaction has locked are skipped. The others are locked in one order, which prevents deadlocks.
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
set access_count = m.access_count + free.count, last_accessed = greatest(m.last_accessed, free.at),
    first_accessed = coalesce(m.first_accessed, free.at)
from free where m.end_user_id = free.end_user_id and m.id = free.id
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
        values: dict[str, Any] = {
            "users": [end_user_id for end_user_id, _ in waiting],
            "memories": [memory_id for _, memory_id in waiting],
            "counts": [count for count, _ in waiting.values()],
            "moments": [at for _, at in waiting.values()],
        }
        with system_scope(SystemWork.SCHEDULE), connection.cursor() as cursor:
            cursor.execute(_COUNT, values)
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
