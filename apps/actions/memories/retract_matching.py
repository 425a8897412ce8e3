"""Retract all memories that a query finds, however many, each in a transaction of its own."""

from dataclasses import dataclass
from uuid import UUID

from apps.actions.memories.bulk_outcome import BulkOutcome, count_refused
from apps.actions.memories.retract_several import retract_several
from apps.memories.querysets import MemoryQuerySet

BATCH = 1_000


@dataclass(frozen=True, slots=True)
class MatchingRetracted:
    """How many memories were retracted, and those that were refused."""

    retracted: int
    refused: tuple[BulkOutcome, ...]

    @property
    def found(self) -> int:
        """Return how many memories the query found."""
        return self.retracted + len(self.refused)


def retract_matching(
    *, project_id: UUID, memories: MemoryQuerySet, api_key_id: UUID | None, is_trusted: bool
) -> MatchingRetracted:
    """Retract memories, newest first; those that are stored in the meantime are left alone."""
    retracted, refused = 0, list[BulkOutcome]()
    rows = memories.order_by("-id").values_list("id", flat=True)
    batch = list(rows[:BATCH])
    while batch:
        outcomes = retract_several(
            project_id=project_id, memory_ids=batch, api_key_id=api_key_id, is_trusted=is_trusted
        )
        retracted += len(outcomes) - count_refused(outcomes)
        refused += [each for each in outcomes if each.error is not None]
        batch = list(rows.filter(id__lt=batch[-1])[:BATCH])
    return MatchingRetracted(retracted, tuple(refused))
