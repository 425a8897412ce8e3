"""Changes of memories, as people read them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.console.labels import names_of
from apps.memories.models import Memory, MemoryVersion

MAX_ENTRIES = 20


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A change of a memory and who made it."""

    operation: str
    actor: str
    at: datetime


def changes_of(memory: Memory) -> list[MemoryVersion]:
    """Return the changes of a memory, latest first; named_changes() names who made them."""
    rows = MemoryVersion.objects.filter(end_user_id=memory.end_user_id, memory=memory)
    return list(rows.order_by("-version")[:MAX_ENTRIES])


def named_changes(changes: Iterable[MemoryVersion], names: Mapping[str, str]) -> tuple[HistoryEntry, ...]:
    """Return changes with the names of their actors."""
    return tuple(HistoryEntry(change.operation, names[change.actor], change.known_until) for change in changes)


def latest_changes(*, project_id: UUID, memory_ids: Iterable[UUID]) -> dict[UUID, HistoryEntry]:
    """Return the latest change of each of some memories of a project."""
    rows = MemoryVersion.objects.filter(memory__in=list(memory_ids), memory__project_id=project_id)
    latest = list(rows.order_by("memory_id", "-version").distinct("memory_id"))
    named = named_changes(latest, names_of(change.actor for change in latest))
    return {row.memory_id: entry for row, entry in zip(latest, named, strict=True)}
