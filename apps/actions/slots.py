"""What becomes active meets what holds its slot: one value of a stateful predicate is live, the one said last."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from apps.memories.models import Memory
from apps.pipeline.operations import Operation, SupersedeMemory
from apps.pipeline.rivalry import joins
from apps.pipeline.vocabulary import MemoryType, Polarity, Status


def settle_slot(
    *, memory: Memory, changes: dict[str, Any], apart_from: Collection[UUID] = ()
) -> tuple[dict[str, Any], list[Operation]]:
    """Return the changes of a memory that becomes active, and what closes the values that it replaces.

    Where another value was said later, the memory becomes history instead, as a late arrival does. `apart_from` names
    memories that the same decision takes out of the slot.
    """
    if not (memory.stateful and memory.subject_id and memory.polarity == Polarity.POSITIVE) or joins(memory.evidence):
        return changes, []
    rivals = [rival for rival in _rivals(memory) if rival.id not in apart_from]
    newer = [rival for rival in rivals if rival.said_at > memory.said_at]
    if newer:
        return {**changes, **_as_history(memory, heir=newer[0])}, []
    return changes, [_closed(rival, by=memory) for rival in rivals]


def _rivals(memory: Memory) -> list[Memory]:
    holders = Memory.objects.filter(
        end_user_id=memory.end_user_id,
        subject_id=memory.subject_id,
        predicate=memory.predicate,
        status=Status.ACTIVE,
        stateful=True,
        polarity=Polarity.POSITIVE,
    )
    others = holders.exclude(id=memory.id).exclude(type=MemoryType.EVENT).order_by("said_at", "id")
    return [each for each in others if not joins(each.evidence)]


def _as_history(memory: Memory, *, heir: Memory) -> dict[str, Any]:
    ended = max(memory.valid_from, heir.valid_from)
    return {"status": Status.SUPERSEDED, "superseded_by_id": heir.id, "valid_until": ended}


def _closed(rival: Memory, *, by: Memory) -> SupersedeMemory:
    return SupersedeMemory(
        memory_id=rival.id,
        expected_version=rival.version,
        superseded_by=by.id,
        valid_until=max(rival.valid_from, by.valid_from),
    )
