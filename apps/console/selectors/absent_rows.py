"""What became of a memory or pair that an address names and that the open page of the queue does not list."""

from dataclasses import dataclass
from uuid import UUID

from apps.console.labels import label, time_since
from apps.console.selectors.history import latest_changes
from apps.console.selectors.settlements import settled_by
from apps.memories.models import Memory, MemoryLink
from apps.pipeline.core.enums import LinkStatus, Status


@dataclass(frozen=True, slots=True)
class AbsentMemory:
    """A memory that is not listed, None if it was deleted, and what is said about it."""

    memory: Memory | None
    why: str


def absent_memory(*, project_id: UUID, memory_id: UUID) -> AbsentMemory:
    """Return a memory that the page of the queue does not list, and why, such as who decided about it."""
    memory = Memory.objects.for_project(project_id).to_show().filter(pk=memory_id).first()
    if memory is None:
        return AbsentMemory(None, "The memory of this address does not exist any more.")
    if memory.status == Status.PENDING_REVIEW:
        return AbsentMemory(memory, "This memory still waits for a decision, but not on this page of the list.")
    change = latest_changes(project_id=project_id, memory_ids=[memory_id]).get(memory_id)
    if change is None:
        return AbsentMemory(memory, f"This memory does not wait for a decision: it is {label(memory.status)}.")
    return AbsentMemory(memory, f"{change.actor} already {label(change.operation)} it ({time_since(change.at)}).")


@dataclass(frozen=True, slots=True)
class AbsentPair:
    """A pair that is not listed, None if it was deleted, and what is said about it."""

    link: MemoryLink | None
    why: str


def absent_pair(*, project_id: UUID, link_id: UUID) -> AbsentPair:
    """Return a pair that the page of the queue does not list, and why, such as who settled it."""
    rows = MemoryLink.objects.for_project(project_id).select_related("from_memory", "to_memory", "end_user")
    link = rows.filter(pk=link_id).first()
    if link is None:
        return AbsentPair(None, "The pair of this address does not exist any more.")
    if link.status != LinkStatus.OPEN:
        return AbsentPair(link, f"{settled_by(project_id=project_id, link_id=link_id)}.")
    if not MemoryLink.objects.filter(pk=link_id).to_settle().exists():
        return AbsentPair(link, "This pair needs no decision any more: one of the two is no longer live.")
    return AbsentPair(link, "This pair still waits for a decision, but not on this page of the list.")
