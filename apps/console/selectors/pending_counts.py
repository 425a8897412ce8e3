"""Counts of pending decisions for the navigation."""

from uuid import UUID

from apps.memories.models import Memory, MemoryLink

MAX_COUNT = 1_000


def pending_counts(*, project_id: UUID) -> dict[str, int]:
    """Count pending reviews and open contradictions up to a limit, by view name."""
    return {
        "review": Memory.objects.for_project(project_id).awaiting_review().order_by()[:MAX_COUNT].count(),
        "contradictions": MemoryLink.objects.for_project(project_id).to_settle().order_by()[:MAX_COUNT].count(),
    }
