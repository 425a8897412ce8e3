"""Memories with the values that they had at a moment of the past."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from django.db.models import Field

from apps.memories.models import Memory, MemoryVersion


def as_believed(*, memories: Sequence[Memory], end_user_ids: set[UUID], moment: datetime) -> list[Memory]:
    """Restore, in place, the values that later changes replaced; the memories are those of `known_at(moment)`.

    One query. A version row has the values that its change replaced, so the earliest change after the moment is
    applied last.
    """
    by_id = {memory.id: memory for memory in memories}
    later = MemoryVersion.objects.filter(
        end_user__in=end_user_ids, memory__in=list(by_id), known_until__gt=moment
    ).order_by("memory", "-version")
    for past in later:
        memory = by_id[past.memory_id]
        for column, value in past.values.items():
            setattr(memory, column, past_value(column, value))
        memory.version, memory.updated_at = past.version, past.known_from
    return list(memories)


def past_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the replaced values of a version with the types of their columns."""
    return {name: past_value(name, value) for name, value in values.items()}


def past_value(column: str, value: Any) -> Any:
    """Return one replaced value with the type of its column."""
    return cast("Field[Any, Any]", Memory._meta.get_field(column)).to_python(value)
