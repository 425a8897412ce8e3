"""Conflicts of a memory that becomes live: no two live memories say the same, and a slot has the latest value."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any
from uuid import UUID

from apps.actions.errors import Conflict, NotFound
from apps.actions.get_or_create import hold_end_user
from apps.memories.codec import read_columns
from apps.memories.models import Memory
from apps.memories.reading.postgres_reader import PostgresMemoryReader
from apps.pipeline.conflict.slots import duplicate_of, takes_slot
from apps.pipeline.core.canonical import salted_hash
from apps.pipeline.core.enums import LIVE_STATUSES
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.operations import Operation
from apps.pipeline.core.ports import Slot
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.review.decisions import in_slot


def settle_slot(
    *, memory: Memory, changes: dict[str, Any], apart_from: Collection[UUID] = (), replaces: Collection[UUID] = ()
) -> tuple[dict[str, Any], list[Operation]]:
    """Return the changes of a memory that becomes active, and the operations that close the values it replaces.

    If another value was said later, the memory becomes superseded instead. `apart_from` are memories that the same
    decision removes from the slot, `replaces` those that are closed whatever slot they hold. Call it in a transaction:
    it locks out other direct writes of the end user. Raises NotFound for a memory that was deleted meanwhile.
    """
    changed = _with_changes(memory, changes)
    if not takes_slot(changed) and not replaces:
        return changes, []
    hold_end_user(memory.end_user_id)
    slot = [Slot(subject_id=changed.subject_id, predicate=changed.predicate)] if changed.subject_id else []
    holders = PostgresMemoryReader().holders(
        end_user_id=memory.end_user_id, slots=slot, ids=list(replaces), private_to=memory.private_to
    )
    others = [each for each in holders if each.id not in apart_from]
    settled, closed = in_slot(changed, changes, live=others, replaces=replaces)
    return settled, [*closed]


def _with_changes(memory: Memory, changes: dict[str, Any]) -> StoredMemory:
    """Return a memory as it will be after the changes. Raises NotFound if it was deleted since it was read."""
    try:
        known = PostgresMemoryReader().one(end_user_id=memory.end_user_id, memory_id=memory.pk)
    except LookupError as deleted:
        raise NotFound("there is no such memory") from deleted
    return replace(known, **read_columns(changes))


def beside_others(*, memory: Memory, changes: dict[str, Any], apart_from: Collection[UUID] = ()) -> dict[str, Any]:
    """Add a hash that no live memory has to the changes of a memory that becomes live or gets another hash.

    Call it in a transaction. Raises Conflict if a live memory says the same already, NotFound for a memory that was
    deleted meanwhile.
    """
    is_live = changes.get("status", memory.status) in LIVE_STATUSES
    if not is_live or (memory.status in LIVE_STATUSES and "canonical_hash" not in changes):
        return changes
    hold_end_user(memory.end_user_id)
    changed = _with_changes(memory, changes)
    found = PostgresMemoryReader().duplicates(
        end_user_id=memory.end_user_id,
        hashes=[changed.canonical_hash],
        contents=[changed.content],
        private_to=memory.private_to,
    )
    others = [each for each in found if each.id != memory.pk and each.id not in apart_from]
    if duplicate := duplicate_of(changed, others):
        raise Conflict(f"{show(Prefix.MEMORY, duplicate.id)} says the same already")
    is_taken = any(each.canonical_hash == changed.canonical_hash for each in others)
    free = salted_hash(changed.canonical_hash, memory_id=memory.pk) if is_taken else changed.canonical_hash
    return {**changes, "canonical_hash": free}
