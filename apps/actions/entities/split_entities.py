"""Take the merge of two entities back, as far as nobody has changed since what it did."""

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
from apps.actions.memories.slot_conflicts import beside_others, settle_slot
from apps.memories.codec import read_statement
from apps.memories.models import Entity, EntityAlias, LedgerEntry, Memory, MemoryLink, MemoryVersion
from apps.pipeline.core.canonical import canonical_hash, salted_hash
from apps.pipeline.core.enums import LIVE_STATUSES, LinkKind, LinkStatus, Status
from apps.pipeline.core.operations import Operation, ReviseMemory


def split_entities(
    *, project_id: UUID, entity_id: UUID, api_key_id: UUID | None = None, person_id: int | None = None
) -> None:
    """Take a merge back: what the merge rewrote is as it was, as far as nobody has changed it since.

    What was learned meanwhile stays where it is. Raises NotFound, Conflict where nothing was merged.
    """
    with transaction.atomic():
        (entity,) = locked_entities(project_id, entity_id)
        if entity.merged_into_id is None:
            raise Conflict("the entity is not merged into another")
        merge = EntityMerge(project_id, entity.id, entity.merged_into_id, api_key_id, person_id)
        did = _last_merge(entity).details
        EntityAlias.objects.filter(entity_id=merge.into_id, source=entity.id.hex).delete()
        Entity.objects.filter(id=entity.id).update(merged_into=None)
        apply_to(merge, entity, list(_pointed_back(entity, did["memories"])))
        for operations in _opened_again(entity, did["closed"]):
            apply_to(merge, entity, operations)
        asked = Q(from_memory__in=[each for each, _ in did["links"]], kind=LinkKind.POSSIBLE_DUPLICATE)
        MemoryLink.objects.filter(asked, end_user_id=entity.end_user_id, status=LinkStatus.OPEN).update(
            status=LinkStatus.SETTLED, resolution=SPLIT, settled_at=timezone.now()
        )
        record_merge(merge, entity, verb=SPLIT, details={"from": str(merge.into_id)})


def _last_merge(entity: Entity) -> LedgerEntry:
    found = LedgerEntry.objects.filter(end_user_id=entity.end_user_id, object_id=entity.id, verb=MERGED).first()
    if found is None:
        raise Conflict("nothing tells what the merge did")
    return found


def _past(entity: Entity, memory_ids: list[str], operation: str) -> Iterator[tuple[Memory, dict[str, Any]]]:
    """Yield each memory with the values that it had before it was last changed in this way."""
    past = MemoryVersion.objects.filter(
        end_user_id=entity.end_user_id, memory_id__in=memory_ids, operation=operation
    ).select_related("memory")
    latest = {version.memory_id: version for version in past.order_by("version")}
    yield from ((version.memory, version.values) for version in latest.values())


def _pointed_back(entity: Entity, memory_ids: list[str]) -> Iterator[ReviseMemory]:
    """Point memories at the entity again, where nobody has pointed them elsewhere since, each hash its own."""
    given: set[str] = set()
    for memory, before in _past(entity, memory_ids, MERGED):
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
    """Return the hash of what a memory says by now, or one of its own where another that lives has it."""
    found = canonical_hash(read_statement(memory, **changes))
    if memory.status not in LIVE_STATUSES:
        return found
    others = Memory.objects.live().filter(end_user_id=memory.end_user_id, canonical_hash=found).exclude(id=memory.id)
    return salted_hash(found, memory_id=memory.id) if found in given or others.exists() else found


def _opened_again(entity: Entity, memory_ids: list[str]) -> Iterator[list[Operation]]:
    """Open what the merge closed, unless it stands otherwise by now; each meets what has come into its slot since."""
    for memory, before in _past(entity, memory_ids, "superseded"):
        if memory.status == Status.SUPERSEDED:
            ended = parse_datetime(before["valid_until"] or "")
            opened = {"status": before["status"], "superseded_by_id": None, "valid_until": ended}
            with suppress(Conflict):  # it has been said again since, and waits for a person
                opened = beside_others(memory=memory, changes=opened)
                changes, closing = settle_slot(memory=memory, changes=opened)
                yield [ReviseMemory(memory.id, memory.version, verb=SPLIT, changes=changes), *closing]
