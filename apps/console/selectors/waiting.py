"""How much waits for a person."""

from uuid import UUID

from apps.memories.models import Memory, MemoryLink

MOST_COUNTED = 1_000  # what is more is shown as so many


def waiting(*, project_id: UUID) -> dict[str, int]:
    """Count what the places with a queue hold, up to a limit, by the name of their view."""
    return {
        "review": Memory.objects.for_project(project_id).awaiting_review().order_by()[:MOST_COUNTED].count(),
        "contradictions": MemoryLink.objects.for_project(project_id).to_settle().order_by()[:MOST_COUNTED].count(),
    }
