"""Undo the merge of two entities, except for memories that were changed since."""

from collections.abc import Iterator, Set
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from apps.actions.entities.entity_merge_operations import MERGED, SPLIT
from apps.actions.entities.merge_entities import EntityMerge, apply_to, locked_entities, record_merge
from apps.actions.errors import Conflict
from apps.actions.memories.slot_conflicts import settle_change
from apps.memories.codec import read_statement
from apps.memories.models import Entity, EntityAlias, LedgerEntry, Memory, MemoryLink, MemoryVersion
from apps.pipeline.core.canonical import canonical_hash, salted_hash
from apps.pipeline.core.enums import LIVE_STATUSES, LinkKind, LinkStatus, Status
from apps.pipeline.core.operations import Operation, ReviseMemory


def split_entities(
    *, project_id: UUID, entity_id: UUID, api_key_id: UUID | None = None, person_id: int | None = None
) -> None:
    """Undo a merge: memories that it changed get their former values, unless they were changed again since.

    Memories that were added since stay with the entity that they name. Raises NotFound, Conflict if nothing was merged.
    """
    with transaction.atomic():
        (entity,) = locked_entities(project_id, entity_id)
        if entity.merged_into_id is None:
            raise Conflict("the entity is not merged into another")
        merge = EntityMerge(project_id, entity.id, entity.merged_into_id, api_key_id, person_id)
        entries = LedgerEntry.objects.filter(end_user_id=entity.end_user_id, object_id=entity.id, verb=MERGED)
        recorded = entries.first()
        if recorded is None:
            raise Conflict("the ledger has no record of the merge")
        merged = recorded.details
        EntityAlias.objects.filter(entity_id=merge.into_id, source=entity.id.hex).delete()
        Entity.objects.filter(id=entity.id).update(merged_into=None)
        apply_to(merge, entity, list(_restored_references(entity, merged["memories"])))
        for operations in _reopened(entity, merged["closed"]):
            apply_to(merge, entity, operations)
        linked = Q(from_memory__in=[each for each, _ in merged["links"]], kind=LinkKind.POSSIBLE_DUPLICATE)
        MemoryLink.objects.filter(linked, end_user_id=entity.end_user_id, status=LinkStatus.OPEN).update(
            status=LinkStatus.SETTLED, resolution=SPLIT, settled_at=timezone.now()
        )
        record_merge(merge, entity, verb=SPLIT, details={"from": str(merge.into_id)})


def _values_before(entity: Entity, memory_ids: list[str], operation: str) -> Iterator[tuple[Memory, dict[str, Any]]]:
    """Yield each memory with the values that the latest operation of this name replaced."""
    past = MemoryVersion.objects.filter(
        end_user_id=entity.end_user_id, memory_id__in=memory_ids, operation=operation
    ).select_related("memory")
    latest = {version.memory_id: version for version in past.order_by("version")}
    yield from ((version.memory, version.values) for version in latest.values())


def _restored_references(entity: Entity, memory_ids: list[str]) -> Iterator[ReviseMemory]:
    """Make memories refer to the entity again, unless their reference was changed since; hashes stay unique."""
    given: set[str] = set()
    for memory, before in _values_before(entity, memory_ids, MERGED):
        changes: dict[str, Any] = {}
        if before.get("subject_id") == str(entity.id) and memory.subject_id == entity.merged_into_id:
            changes["subject_id"] = entity.id
        if before.get("object", {}).get("entity") == entity.shown_id:
            changes |= {"object": before["object"], "object_text": before["object_text"]}
        if changes:
            changes["canonical_hash"] = _hash(memory, changes, given)
            given |= {changes["canonical_hash"]} if memory.status in LIVE_STATUSES else set()
            yield ReviseMemory(memory.id, memory.version, verb=SPLIT, changes=changes)


def _hash(memory: Memory, changes: dict[str, Any], given: Set[str]) -> str:
    """Return the hash of a memory with these changes, salted if another live memory has the same hash."""
    found = canonical_hash(read_statement(memory, **changes))
    if memory.status not in LIVE_STATUSES:
        return found
    others = Memory.objects.live().filter(end_user_id=memory.end_user_id, canonical_hash=found).exclude(id=memory.id)
    return salted_hash(found, memory_id=memory.id) if found in given or others.exists() else found


def _reopened(entity: Entity, memory_ids: list[str]) -> Iterator[list[Operation]]:
    """Reopen memories that the merge closed and that are still closed, and settle their slots as they are now."""
    for memory, before in _values_before(entity, memory_ids, "superseded"):
        if memory.status == Status.SUPERSEDED:
            ended = parse_datetime(before["valid_until"] or "")
            opened = {"status": before["status"], "superseded_by_id": None, "valid_until": ended}
            with suppress(Conflict):  # a live memory says the same by now
                changes, closing = settle_change(memory=memory, changes=opened)
                yield [ReviseMemory(memory.id, memory.version, verb=SPLIT, changes=changes), *closing]
