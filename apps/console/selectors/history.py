"""What was done to a memory, and by whom."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User

from apps.memories.models import Memory, MemoryVersion

MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Past:
    """One change of a memory, and who made it."""

    operation: str
    actor: str
    at: datetime


def history_of(memory: Memory) -> tuple[Past, ...]:
    """Return what was done to a memory, latest first, people by their name (two queries)."""
    rows = MemoryVersion.objects.filter(end_user_id=memory.end_user_id, memory=memory)
    return _told(rows.order_by("-version")[:MOST_SHOWN])


def latest_of(*, project_id: UUID, memory_ids: Iterable[UUID]) -> dict[UUID, Past]:
    """Return the latest change of each of some memories of a project."""
    rows = MemoryVersion.objects.filter(memory__in=list(memory_ids), memory__project_id=project_id)
    latest = list(rows.order_by("memory_id", "-version").distinct("memory_id"))
    return {row.memory_id: past for row, past in zip(latest, _told(latest), strict=True)}


def _told(rows: Iterable[MemoryVersion]) -> tuple[Past, ...]:
    changes = list(rows)
    names = _names(change.actor for change in changes)
    return tuple(
        Past(change.operation, names.get(change.actor, change.actor.partition(":")[0]), change.known_until)
        for change in changes
    )


def _names(actors: Iterable[str]) -> dict[str, str]:
    """Return the names of the people among some actors."""
    people = {int(actor.removeprefix("person:")) for actor in actors if actor.startswith("person:")}
    users = User.objects.filter(pk__in=people) if people else ()
    return {f"person:{user.pk}": user.get_username() for user in users}
