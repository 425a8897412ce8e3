"""Retract a memory: it is no longer retrieved, but not deleted."""

from uuid import UUID

from apps.actions.errors import Conflict, NotAllowed
from apps.actions.memories.revise import MOST_TRIES, apply_revision, find_memory
from apps.pipeline.core.enums import Status
from apps.pipeline.core.operations import ReviseMemory
from apps.pipeline.core.ports import StalePlan
from apps.pipeline.direct_write.trust import binds_agents


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
