"""Retract several memories, each in a transaction of its own."""

from collections.abc import Sequence
from uuid import UUID

from apps.actions.memories.bulk_outcome import BulkOutcome, noting
from apps.actions.memories.retract import retract


def retract_several(
    *, project_id: UUID, memory_ids: Sequence[UUID], api_key_id: UUID | None, is_trusted: bool
) -> list[BulkOutcome]:
    """Retract memories in order; return what became of each."""
    outcomes: list[BulkOutcome] = []
    for memory_id in memory_ids:
        with noting(outcomes, memory_id):
            retract(project_id=project_id, memory_id=memory_id, api_key_id=api_key_id, is_trusted=is_trusted)
    return outcomes
