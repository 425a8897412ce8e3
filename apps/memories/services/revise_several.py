"""Revise several memories, each in a transaction of its own."""

from collections.abc import Sequence

from apps.memories.services.bulk_outcome import BulkOutcome, noting
from apps.memories.services.revising import Revision, revise


def revise_several(*, revisions: Sequence[Revision]) -> list[BulkOutcome]:
    """Apply revisions in order; return what became of each."""
    outcomes: list[BulkOutcome] = []
    for revision in revisions:
        with noting(outcomes, revision.memory_id):
            revise(revision=revision)
    return outcomes
