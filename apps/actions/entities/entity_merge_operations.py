"""What the merge of two entities does to memories: they point at the one that stays, and what then meets is settled."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

from django.db.models import Q

from apps.memories.codec import read_statement
from apps.memories.models import Entity, Memory
from apps.memories.querysets import MemoryQuerySet
from apps.pipeline.core.canonical import canonical_hash, salted_hash
from apps.pipeline.core.enums import LIVE_STATUSES, LinkKind, Status
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.operations import LinkMemories, Operation, ReviseMemory, SupersedeMemory
from apps.pipeline.direct_write.conflicts import takes_slot

MERGED, SPLIT = "entity_merged", "entity_split"  # as the history and the ledger name it


def pointing_at(*entities: Entity) -> MemoryQuerySet:
    """Return the memories of which one of the entities is subject or object, in the order in which they were said."""
    ids = [each.id for each in entities]
    points = Q(subject_id__in=ids) | Q(object__entity__in=[show(Prefix.ENTITY, each) for each in ids])
    rows = Memory.objects.filter(points, end_user_id=entities[0].end_user_id).order_by("said_at", "id")
    return rows.defer("terms", "context_terms", "context")


def moved(rows: Sequence[Memory], *, entity: Entity, into: Entity) -> list[Operation]:
    """Point memories at the entity that stays, each hash its own, and settle what now meets."""
    live = [row for row in rows if row.status in LIVE_STATUSES]
    changes = {row.id: found for row in rows if (found := _changes(row, entity=entity, into=into))}
    versions = {row.id: row.version for row in rows}
    taken = _taken([values["canonical_hash"] for values in changes.values()], entity, apart_from=list(changes))
    operations: list[Operation] = []
    for row in live:
        if row.id not in changes:
            continue
        duplicate = taken.setdefault(changes[row.id]["canonical_hash"], row)
        if duplicate is not row:
            changes[row.id]["canonical_hash"] = salted_hash(changes[row.id]["canonical_hash"], memory_id=row.id)
            if duplicate.subject_id in (entity.id, into.id):
                operations.append(LinkMemories(from_id=row.id, to_id=duplicate.id, kind=LinkKind.POSSIBLE_DUPLICATE))
    revisions = [ReviseMemory(key, versions[key], verb=MERGED, changes=values) for key, values in changes.items()]
    return [*_closed(live, changes), *revisions, *operations]


def _taken(hashes: Sequence[str], entity: Entity, *, apart_from: Sequence[UUID]) -> dict[str, Memory]:
    """Return who stands under a hash: a sentence without an object may be that of any other entity."""
    rows = Memory.objects.live().filter(end_user_id=entity.end_user_id, canonical_hash__in=hashes)
    return {row.canonical_hash: row for row in rows.exclude(id__in=apart_from)}


def _changes(row: Memory, *, entity: Entity, into: Entity) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if row.subject_id == entity.id:
        found["subject_id"] = into.id
    if row.object.get("entity") == entity.shown_id:
        found |= {"object": {"entity": into.shown_id}, "object_text": into.name}
    return found | {"canonical_hash": canonical_hash(read_statement(row, **found))} if found else {}


def _closed(live: Sequence[Memory], changes: dict[UUID, dict[str, Any]]) -> Iterator[SupersedeMemory]:
    """Close all but the latest value of each stateful slot that both entities held."""
    slots: dict[tuple[UUID | None, str], list[Memory]] = {}
    for row in live:
        if row.status == Status.ACTIVE and takes_slot(read_statement(row)):
            subject = changes.get(row.id, {}).get("subject_id", row.subject_id)
            slots.setdefault((subject, row.predicate), []).append(row)
    for rows in slots.values():
        if any(row.id in changes for row in rows):
            yield from (_close(older, newer) for older, newer in pairwise(rows))


def _close(older: Memory, newer: Memory) -> SupersedeMemory:
    until: datetime = min(filter(None, (older.valid_until, max(older.valid_from, newer.valid_from))))
    return SupersedeMemory(older.id, older.version, superseded_by=newer.id, valid_until=until)
