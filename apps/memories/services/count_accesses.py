"""Count how often memories are retrieved, in batches of a few seconds, so that a search writes nothing itself.

The counts slow down the decay of memories, and evaluation asks what became of those that were retrieved. A killed
process loses the counts that it has not written yet.
"""

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import structlog
from django.conf import settings
from django.db import DatabaseError, connection, transaction

from apps.memories.models import Memory
from apps.tenants.system_scope import SystemWork, system_scope

log = structlog.get_logger(__name__)

MOST_WAITING = 50_000  # memories; further ones are not counted until these are written


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
        by_user: dict[UUID, dict[UUID, tuple[int, datetime]]] = {}
        for (end_user_id, memory_id), counted in waiting.items():
            by_user.setdefault(end_user_id, {})[memory_id] = counted
        columns = ("access_count", "first_accessed", "last_accessed")
        with system_scope(SystemWork.SCHEDULE):
            for end_user_id, noted in by_user.items():
                memories = Memory.objects.for_end_user(end_user_id)
                with transaction.atomic():
                    # Rows that another transaction has locked are skipped. The others are locked in one order, which
                    # prevents deadlocks.
                    free = memories.filter(id__in=noted).only("id", *columns).order_by("id")
                    rows = list(free.select_for_update(no_key=True, skip_locked=True))
                    for row in rows:
                        count, at = noted[row.id]
                        row.access_count += count
                        row.first_accessed = row.first_accessed or at
                        row.last_accessed = max(row.last_accessed or at, at)
                    memories.bulk_update(rows, columns)
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
