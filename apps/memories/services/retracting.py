"""Retract memories: one, several, or those that match."""

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from uuid import UUID

from apps.common.errors import Conflict, NotAllowed
from apps.memories.querysets import MemoryQuerySet
from apps.memories.services.revising import MOST_TRIES, BulkOutcome, apply_revision, find_memory, outcome_of
from apps.memories.writing.plan_writer import apply_plan
from apps.memories.writing.rows import WriteContext
from apps.pipeline.core.enums import Status
from apps.pipeline.core.operations import ReviseMemory
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import StalePlan
from apps.pipeline.direct_write.trust import binds_agents
from apps.traces.get_or_create import actor_of


def retract(
    *,
    project_id: UUID,
    memory_id: UUID,
    api_key_id: UUID | None = None,
    person_id: int | None = None,
    expected_version: int | None = None,
    is_trusted: bool = True,
) -> None:
    """Retract a memory; repeating it changes nothing.

    Raises NotFound, Conflict, NotAllowed for a rule for agents and a caller that is not trusted.
    """
    for _ in range(MOST_TRIES):
        memory = find_memory(project_id=project_id, memory_id=memory_id)
        if expected_version not in (None, memory.version):
            raise Conflict(f"the memory is at version {memory.version}")
        if memory.status == Status.RETRACTED:
            return None
        if binds_agents(memory.tags) and not is_trusted:
            raise NotAllowed("retracting a rule for agents needs the scope trust")
        revision = retraction(memory_id=memory.id, version=memory.version)
        try:
            return apply_revision(memory=memory, operations=[revision], api_key_id=api_key_id, person_id=person_id)
        except StalePlan:
            continue
    raise Conflict("the memory is being changed by others; try again")


def retraction(*, memory_id: UUID, version: int) -> ReviseMemory:
    """Return the operation that retracts a memory at a version."""
    return ReviseMemory(
        memory_id=memory_id, expected_version=version, verb="retracted", changes={"status": Status.RETRACTED}
    )


def retract_several(
    *, project_id: UUID, memory_ids: Sequence[UUID], api_key_id: UUID | None, is_trusted: bool
) -> list[BulkOutcome]:
    """Retract memories in order; return what became of each."""
    retract_one = partial(retract, project_id=project_id, api_key_id=api_key_id, is_trusted=is_trusted)
    return [outcome_of(each, partial(retract_one, memory_id=each)) for each in memory_ids]


# Memories of a transaction, which takes some tenths of a second: other writers of the end user wait so long.
BATCH = 250


def retract_matching(
    *, project_id: UUID, memories: MemoryQuerySet, api_key_id: UUID | None, is_trusted: bool
) -> tuple[int, list[BulkOutcome]]:
    """Retract memories, newest first; return how many, and what was refused.

    Those that are stored in the meantime are left alone. Those that the caller may not retract, and all of an end user
    in a batch if another writer has changed one of them meanwhile, are tried one by one.
    """
    found, refused = 0, list[BulkOutcome]()
    rows = memories.select_related(None).order_by("-id").only("id", "end_user_id", "version", "tags")
    batch = list(rows[:BATCH])
    while batch:
        found += len(batch)
        for end_user_id, group in groupby(sorted(batch, key=attrgetter("end_user_id")), attrgetter("end_user_id")):
            of_user = list(group)
            left = [each for each in of_user if not is_trusted and binds_agents(each.tags)]
            allowed = (retraction(memory_id=each.pk, version=each.version) for each in of_user if each not in left)
            context = WriteContext(project_id=project_id, end_user_id=end_user_id, actor=actor_of(api_key_id))
            try:
                apply_plan(plan=WritePlan(tuple(allowed)), context=context)
            except StalePlan:
                left = of_user
            outcomes = retract_several(
                project_id=project_id,
                memory_ids=[each.pk for each in left],
                api_key_id=api_key_id,
                is_trusted=is_trusted,
            )
            refused += [each for each in outcomes if each.error is not None]
        batch = list(rows.filter(id__lt=batch[-1].pk)[:BATCH])
    return found - len(refused), refused
