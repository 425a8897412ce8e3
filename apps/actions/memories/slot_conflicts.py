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
from apps.pipeline.conflict.slots import duplicate_of, in_slot, takes_slot
from apps.pipeline.core.canonical import salted_hash
from apps.pipeline.core.enums import LIVE_STATUSES, Status
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.operations import Operation
from apps.pipeline.core.ports import Slot


def settle_change(
    *, memory: Memory, changes: dict[str, Any], apart_from: Collection[UUID] = (), replaces: Collection[UUID] = ()
) -> tuple[dict[str, Any], list[Operation]]:
    """Return the changes of a memory with a hash of its own, and the operations that close the values it replaces.

    A memory that becomes active while another value was said later becomes superseded instead. `apart_from` are
    memories that the same decision removes, `replaces` those that are closed whatever slot they hold. Call it in a
    transaction: it locks out other direct writes of the end user. Raises Conflict if a live memory says the same
    already, NotFound for a memory that was deleted meanwhile.
    """
    status = changes.get("status", memory.status)
    is_compared = status in LIVE_STATUSES and (memory.status not in LIVE_STATUSES or "canonical_hash" in changes)
    is_placed = status == Status.ACTIVE and not changes.keys().isdisjoint(("status", "predicate"))
    if not (is_compared or is_placed):
        return changes, []
    hold_end_user(memory.end_user_id)
    reader, user_id, agent = PostgresMemoryReader(), memory.end_user_id, memory.private_to
    try:
        changed = reader.one(end_user_id=user_id, memory_id=memory.pk)
    except LookupError as deleted:
        raise NotFound("there is no such memory") from deleted
    changed = replace(changed, **read_columns(changes))
    if is_compared:
        found = reader.duplicates(
            end_user_id=user_id, hashes=[changed.canonical_hash], contents=[changed.content], private_to=agent
        )
        others = [each for each in found if each.id != memory.pk and each.id not in apart_from]
        if duplicate := duplicate_of(changed, others):
            raise Conflict(f"{show(Prefix.MEMORY, duplicate.id)} says the same already")
        is_taken = any(each.canonical_hash == changed.canonical_hash for each in others)
        free = salted_hash(changed.canonical_hash, memory_id=memory.pk) if is_taken else changed.canonical_hash
        changes = {**changes, "canonical_hash": free}
    if not is_placed or not (takes_slot(changed) or replaces):
        return changes, []
    slot = [Slot(subject_id=changed.subject_id, predicate=changed.predicate)] if changed.subject_id else []
    holders = reader.holders(end_user_id=user_id, slots=slot, ids=list(replaces), private_to=agent)
    others = [each for each in holders if each.id not in apart_from]
    settled, closed = in_slot(changed, changes, live=others, replaces=replaces)
    return settled, [*closed]
