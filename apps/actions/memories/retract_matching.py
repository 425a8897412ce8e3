"""Retract all memories that a query finds, however many, some hundred of one end user in each transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from uuid import UUID

from apps.actions.get_or_create import actor_of
from apps.actions.memories.bulk_outcome import BulkOutcome
from apps.actions.memories.retract import retraction
from apps.actions.memories.retract_several import retract_several
from apps.memories.models import Memory
from apps.memories.querysets import MemoryQuerySet
from apps.memories.writing.plan_writer import apply_plan
from apps.memories.writing.write_context import WriteContext
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import StalePlan
from apps.pipeline.direct_write.trust import binds_agents

# Memories of a transaction, which takes some tenths of a second: other writers of the end user wait so long.
BATCH = 250


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
    rows = memories.select_related(None).order_by("-id").only("id", "end_user_id", "version", "tags")
    batch = list(rows[:BATCH])
    while batch:
        for end_user_id, of_user in groupby(sorted(batch, key=attrgetter("end_user_id")), attrgetter("end_user_id")):
            found = list(of_user)
            context = WriteContext(
                project_id=project_id, end_user_id=end_user_id, actor=actor_of(api_key_id), api_key_id=api_key_id
            )
            failed = _retract_together(found, context, is_trusted=is_trusted)
            retracted += len(found) - len(failed)
            refused += failed
        batch = list(rows.filter(id__lt=batch[-1].pk)[:BATCH])
    return MatchingRetracted(retracted, tuple(refused))


def _retract_together(found: Sequence[Memory], context: WriteContext, *, is_trusted: bool) -> list[BulkOutcome]:
    """Retract memories of one end user in one transaction; return what was refused.

    Those that the caller may not retract, and all if another writer has changed one meanwhile, are tried one by one.
    """
    allowed = [each for each in found if is_trusted or not binds_agents(each.tags)]
    left = [each for each in found if not is_trusted and binds_agents(each.tags)]
    try:
        plan = WritePlan(tuple(retraction(memory_id=each.pk, version=each.version) for each in allowed))
        apply_plan(plan=plan, context=context)
    except StalePlan:
        left = list(found)
    outcomes = retract_several(
        project_id=context.project_id,
        memory_ids=[each.pk for each in left],
        api_key_id=context.api_key_id,
        is_trusted=is_trusted,
    )
    return [each for each in outcomes if each.error is not None]
