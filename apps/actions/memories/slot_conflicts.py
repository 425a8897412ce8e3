"""What becomes live meets what is live: nothing is known twice, and a stateful predicate has one value, said last."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any
from uuid import UUID

from apps.actions.errors import Conflict
from apps.actions.get_or_create import hold_end_user
from apps.memories.codec import read_columns
from apps.memories.models import Memory
from apps.memories.reading.postgres_reader import PostgresMemoryReader
from apps.pipeline.core.canonical import salted_hash
from apps.pipeline.core.enums import LIVE_STATUSES
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.operations import Operation
from apps.pipeline.core.ports import Slot
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.direct_write.conflicts import duplicate_of, is_taken, takes_slot
from apps.pipeline.direct_write.review import in_slot


def settle_slot(
    *, memory: Memory, changes: dict[str, Any], apart_from: Collection[UUID] = (), replaces: Collection[UUID] = ()
) -> tuple[dict[str, Any], list[Operation]]:
    """Return the changes of a memory that becomes active, and what closes the values that it replaces.

    Where another value was said later, the memory becomes history instead, as a late arrival does. `apart_from` names
    memories that the same decision takes out of the slot, `replaces` those that are closed whatever slot they hold. To
    be called in a transaction, which keeps others out.
    """
    mine = _with(memory, changes)
    if not takes_slot(mine) and not replaces:
        return changes, []
    hold_end_user(memory.end_user_id)
    others = [each for each in _holders(mine, memory.end_user_id, replaces) if each.id not in apart_from]
    settled, closed = in_slot(mine, changes, live=others, replaces=replaces)
    return settled, [*closed]


def _with(memory: Memory, changes: dict[str, Any]) -> StoredMemory:
    """Return a memory as it will be."""
    known = PostgresMemoryReader().one(end_user_id=memory.end_user_id, memory_id=memory.pk)
    return replace(known, **read_columns(changes))


def _holders(memory: StoredMemory, end_user_id: UUID, more: Collection[UUID]) -> tuple[StoredMemory, ...]:
    slot = [Slot(subject_id=memory.subject_id, predicate=memory.predicate)] if memory.subject_id else []
    return PostgresMemoryReader().holders(end_user_id=end_user_id, slots=slot, ids=list(more))


def beside_others(*, memory: Memory, changes: dict[str, Any], apart_from: Collection[UUID] = ()) -> dict[str, Any]:
    """Return the changes of a memory that becomes live or gets another hash, with one that no live memory has.

    To be called in a transaction. Raises Conflict where a live memory says the same already.
    """
    is_live = changes.get("status", memory.status) in LIVE_STATUSES
    if not is_live or (memory.status in LIVE_STATUSES and "canonical_hash" not in changes):
        return changes
    return {**changes, "canonical_hash": _free_hash(memory, changes, apart_from)}


def _free_hash(memory: Memory, changes: dict[str, Any], apart_from: Collection[UUID]) -> str:
    hold_end_user(memory.end_user_id)
    mine = _with(memory, changes)
    found = PostgresMemoryReader().duplicates(
        end_user_id=memory.end_user_id, hashes=[mine.canonical_hash], contents=[mine.content]
    )
    others = [each for each in found if each.id != memory.pk and each.id not in apart_from]
    if duplicate := duplicate_of(mine, others):
        raise Conflict(f"{show(Prefix.MEMORY, duplicate.id)} says the same already")
    is_free = not is_taken(mine.canonical_hash, others)
    return mine.canonical_hash if is_free else salted_hash(mine.canonical_hash, memory_id=memory.pk)
