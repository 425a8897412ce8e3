"""Operations on memories when two entities are merged: all refer to the remaining one, and conflicts are settled."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

from django.db.models import Q

from apps.memories.codec import read_statement
from apps.memories.models import Entity, Memory
from apps.memories.querysets import MemoryQuerySet
from apps.pipeline.conflict.slots import takes_slot
from apps.pipeline.core.canonical import canonical_hash, salted_hash
from apps.pipeline.core.enums import LIVE_STATUSES, LinkKind, Status
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.operations import LinkMemories, Operation, ReviseMemory, SupersedeMemory

MERGED, SPLIT = "entity_merged", "entity_split"  # names of the operations in history and ledger


def pointing_at(*entities: Entity) -> MemoryQuerySet:
    """Return the memories whose subject or object is one of the entities, in the order in which they were said."""
    ids = [each.id for each in entities]
    points = Q(subject_id__in=ids) | Q(object__entity__in=[show(Prefix.ENTITY, each) for each in ids])
    rows = Memory.objects.filter(points, end_user_id=entities[0].end_user_id).order_by("said_at", "id")
    return rows.defer("terms", "context_terms", "context")


def moved(rows: Sequence[Memory], *, entity: Entity, into: Entity) -> list[Operation]:
    """Make memories refer to the entity that stays; link those that now say the same, and close replaced values.

    Hashes stay unique among live memories.
    """
    live = [row for row in rows if row.status in LIVE_STATUSES]
    changes = {row.id: changed for row in rows if (changed := _changes(row, entity=entity, into=into))}
    versions = {row.id: row.version for row in rows}
    hashes = [values["canonical_hash"] for values in changes.values()]
    others = Memory.objects.live().filter(end_user_id=entity.end_user_id, canonical_hash__in=hashes)
    by_hash = {(row.private_to, row.canonical_hash): row for row in others.exclude(id__in=list(changes))}
    links: list[Operation] = []
    for row in live:
        if row.id not in changes:
            continue
        duplicate = by_hash.setdefault((row.private_to, changes[row.id]["canonical_hash"]), row)
        if duplicate is not row:
            changes[row.id]["canonical_hash"] = salted_hash(changes[row.id]["canonical_hash"], memory_id=row.id)
            # A sentence without an object has the same hash whichever entity it is about.
            if duplicate.subject_id in (entity.id, into.id):
                links.append(LinkMemories(from_id=row.id, to_id=duplicate.id, kind=LinkKind.POSSIBLE_DUPLICATE))
    revisions = [ReviseMemory(key, versions[key], verb=MERGED, changes=values) for key, values in changes.items()]
    return [*_closed(live, changes), *revisions, *links]


def _changes(row: Memory, *, entity: Entity, into: Entity) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    if row.subject_id == entity.id:
        changed["subject_id"] = into.id
    if row.object.get("entity") == entity.shown_id:
        changed |= {"object": {"entity": into.shown_id}, "object_text": into.name}
    return changed | {"canonical_hash": canonical_hash(read_statement(row, **changed))} if changed else {}


def _closed(live: Sequence[Memory], changes: dict[UUID, dict[str, Any]]) -> Iterator[SupersedeMemory]:
    """Close all but the latest value of each stateful slot that both entities held; private ones stand apart."""
    slots: dict[tuple[str, UUID | None, str], list[Memory]] = {}
    for row in live:
        if row.status == Status.ACTIVE and takes_slot(read_statement(row)):
            subject = changes.get(row.id, {}).get("subject_id", row.subject_id)
            slots.setdefault((row.private_to, subject, row.predicate), []).append(row)
    for rows in slots.values():
        if any(row.id in changes for row in rows):
            for older, newer in pairwise(rows):
                until: datetime = min(filter(None, (older.valid_until, max(older.valid_from, newer.valid_from))))
                yield SupersedeMemory(older.id, older.version, superseded_by=newer.id, valid_until=until)
