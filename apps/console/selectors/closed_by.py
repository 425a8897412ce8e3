"""What a decision has closed: memories that the approved ones have replaced, for the message after it."""

from collections.abc import Collection
from uuid import UUID

from apps.memories.models import Memory
from apps.pipeline.core.enums import Status

MOST_NAMED = 3
MAX_CHARACTERS = 90  # of a statement that is quoted


def closed_by(*, project_id: UUID, memory_ids: Collection[UUID]) -> str:
    """Return in words what some memories have replaced, "" for nothing."""
    replaced = Memory.objects.for_project(project_id).filter(superseded_by__in=memory_ids, status=Status.SUPERSEDED)
    contents = list(replaced.order_by("-updated_at", "id").values_list("content", flat=True)[: MOST_NAMED + 1])
    cut = (each if len(each) <= MAX_CHARACTERS else f"{each[: MAX_CHARACTERS - 1]}…" for each in contents[:MOST_NAMED])
    quoted = [f"“{each}”" for each in cut]
    more = " and others" if len(contents) > MOST_NAMED else ""
    return f"{', '.join(quoted)}{more}"
