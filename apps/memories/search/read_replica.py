"""Let a read replica answer a search, if it already has all changes of the end user; otherwise the primary does.

So a search never tells less than the primary, and what was erased there is not found on the replica. Revisions are
numbered by one sequence and only grow, so the replica has all changes of an end user if it has the last revision.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection, connections

from apps.memories.search.decode import SnapshotRow
from apps.telemetry import metrics

PAUSE_SECONDS = 10.0  # in which a replica that failed is not asked
_REVISION = "select coalesce((select number from memories_memoryrevision where end_user_id = %s), 0)"

T = TypeVar("T")
log = structlog.get_logger(__name__)


class ReplicaBehind(Exception):
    """The replica has not replayed the last change of the end user yet."""


@dataclass(frozen=True, slots=True)
class Source:
    """A database to search, and the revision of the end user that its answer must have reached."""

    connection: Any
    least_revision: int = -1

    def checked(self, answer: SnapshotRow) -> SnapshotRow:
        """Return an answer of this database. Raises ReplicaBehind if it is older than the least revision."""
        if answer.revision < self.least_revision:
            raise ReplicaBehind
        return answer


@dataclass(slots=True)
class ReplicaPause:
    """Until when the replica is not asked, by the monotonic clock of this process."""

    until: float = field(default=float("-inf"))


PAUSE = ReplicaPause()


def from_replica_or_primary(end_user_id: UUID, read: Callable[[Source], T]) -> T:
    """Return what `read` returns for the replica, or if that is behind or fails, for the primary."""
    if settings.SEARCH_REPLICA and not connection.in_atomic_block and time.monotonic() >= PAUSE.until:
        try:
            found = _from_replica(end_user_id, read)
        except ReplicaBehind:
            metrics.SEARCHES.labels("primary", "behind").inc()
        except (DatabaseError, InterfaceError) as error:
            PAUSE.until = time.monotonic() + PAUSE_SECONDS
            log.warning("read replica failed", error=str(error).strip(), pause_seconds=PAUSE_SECONDS)
            metrics.SEARCHES.labels("primary", "failed").inc()
        else:
            metrics.SEARCHES.labels("replica", "current").inc()
            return found
    return read(Source(connection))


def _from_replica(end_user_id: UUID, read: Callable[[Source], T]) -> T:
    with connection.cursor() as cursor:
        cursor.execute(_REVISION, [end_user_id])
        (revision,) = cursor.fetchone()
    replica = connections[settings.SEARCH_REPLICA]
    try:
        return read(Source(replica, least_revision=revision))
    finally:
        replica.close()  # back to its pool
