"""What was believed at a moment: memories with the values that they had then."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from django.db.models import Field

from apps.memories.models import Memory, MemoryVersion


def as_believed(*, memories: Sequence[Memory], end_user_ids: set[UUID], moment: datetime) -> list[Memory]:
    """Put back, in place, what later changes replaced; memories are those of `known_at(moment)`.

    One query. A version row holds what its change replaced, so the earliest change after the moment has the last word.
    """
    by_id = {memory.id: memory for memory in memories}
    later = MemoryVersion.objects.filter(
        end_user__in=end_user_ids, memory__in=list(by_id), known_until__gt=moment
    ).order_by("memory", "-version")
    for past in later:
        _put_back(by_id[past.memory_id], past)
    return list(memories)


def _put_back(memory: Memory, past: MemoryVersion) -> None:
    for column, value in past.values.items():
        field = cast("Field[Any, Any]", Memory._meta.get_field(column))
        setattr(memory, column, field.to_python(value))
    memory.version = past.version
    memory.updated_at = past.known_from
