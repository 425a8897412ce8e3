"""The history of changes of a memory."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.console.selectors.people import names_of
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
    names = names_of(change.actor for change in changes)
    return tuple(HistoryEntry(change.operation, names[change.actor], change.known_until) for change in changes)
