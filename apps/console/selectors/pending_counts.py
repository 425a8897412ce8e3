"""Counts of pending decisions and open alerts for the navigation."""

from uuid import UUID

from apps.alerts.models import Alert
from apps.memories.models import Memory, MemoryLink

MAX_COUNT = 1_000


def pending_counts(*, project_id: UUID) -> dict[str, int]:
    """Count pending reviews, open contradictions and open alerts up to a limit, by view name."""
    return {
        "review": Memory.objects.for_project(project_id).awaiting_review().order_by()[:MAX_COUNT].count(),
        "contradictions": MemoryLink.objects.for_project(project_id).to_settle().order_by()[:MAX_COUNT].count(),
        "alerts": Alert.objects.for_project(project_id).open().order_by()[:MAX_COUNT].count(),
    }
