"""The history of changes of a memory."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User

from apps.memories.models import Memory, MemoryVersion

MAX_ENTRIES = 20


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A change of a memory and who made it."""

    operation: str
    actor: str
    at: datetime


def memory_history(memory: Memory) -> tuple[HistoryEntry, ...]:
    """Return the changes of a memory, latest first, with the names of people (two queries)."""
    rows = MemoryVersion.objects.filter(end_user_id=memory.end_user_id, memory=memory)
    return _entries(rows.order_by("-version")[:MAX_ENTRIES])


def latest_changes(*, project_id: UUID, memory_ids: Iterable[UUID]) -> dict[UUID, HistoryEntry]:
    """Return the latest change of each of some memories of a project."""
    rows = MemoryVersion.objects.filter(memory__in=list(memory_ids), memory__project_id=project_id)
    latest = list(rows.order_by("memory_id", "-version").distinct("memory_id"))
    return {row.memory_id: entry for row, entry in zip(latest, _entries(latest), strict=True)}


def _entries(rows: Iterable[MemoryVersion]) -> tuple[HistoryEntry, ...]:
    changes = list(rows)
    people = {int(change.actor.removeprefix("person:")) for change in changes if change.actor.startswith("person:")}
    users = User.objects.filter(pk__in=people) if people else ()
    names = {f"person:{user.pk}": user.get_username() for user in users}
    return tuple(
        HistoryEntry(change.operation, names.get(change.actor, change.actor.partition(":")[0]), change.known_until)
        for change in changes
    )
