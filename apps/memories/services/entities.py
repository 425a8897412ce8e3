"""Merge entities, preview a merge, split merged ones again, and redact their names."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from apps.common.errors import Conflict, NotFound, Unfit
from apps.memories.codec import read_statement
from apps.memories.ledger.record import record
from apps.memories.models import Entity, EntityAlias, LedgerEntry, Memory, MemoryLink, MemoryVersion
from apps.memories.querysets import NOT_SHOWN, MemoryQuerySet
from apps.memories.reading.past import MERGED, SPLIT
from apps.memories.services.revising import apply_decision, settle_change
from apps.pipeline.conflict.slots import takes_slot
from apps.pipeline.core.canonical import canonical_hash, canonical_text, salted_hash
from apps.pipeline.core.enums import LIVE_STATUSES, LinkKind, LinkStatus, Status
from apps.pipeline.core.operations import LinkMemories, ReviseMemory, SupersedeMemory
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.policy import RedactionPolicy
from apps.pipeline.redaction.redact import redact
from apps.traces.get_or_create import hold_end_user


def pointing_at(*entities: Entity) -> MemoryQuerySet:
    """Return the memories whose subject or object is one of the entities, in the order in which they were said."""
    rows = Memory.objects.for_end_user(entities[0].end_user_id).about([each.id for each in entities])
    return rows.defer(*NOT_SHOWN).order_by("said_at", "id")


def moved(rows: Sequence[Memory], *, entity: Entity, into: Entity) -> WritePlan:
    """Make memories refer to the entity that stays; link those that now say the same, and close replaced values.

    Hashes stay unique among live memories.
    """
    changes: dict[UUID, dict[str, Any]] = {}
    for row in rows:
        changed: dict[str, Any] = {}
        if row.subject_id == entity.id:
            changed["subject_id"] = into.id
        if row.object.get("entity") == entity.shown_id:
            changed |= {"object": {"entity": into.shown_id}, "object_text": into.name}
        if changed:
            changes[row.id] = changed | {"canonical_hash": canonical_hash(read_statement(row, **changed))}
    live = [row for row in rows if row.status in LIVE_STATUSES]
    versions = {row.id: row.version for row in rows}
    hashes = [values["canonical_hash"] for values in changes.values()]
    others = Memory.objects.live().filter(end_user_id=entity.end_user_id, canonical_hash__in=hashes)
    by_hash = {(row.private_to, row.canonical_hash): row for row in others.exclude(id__in=list(changes))}
    links: list[LinkMemories] = []
    for row in (each for each in live if each.id in changes):
        duplicate = by_hash.setdefault((row.private_to, changes[row.id]["canonical_hash"]), row)
        if duplicate is not row:
            changes[row.id]["canonical_hash"] = salted_hash(changes[row.id]["canonical_hash"], memory_id=row.id)
            # A sentence without an object has the same hash whichever entity it is about.
            if duplicate.subject_id in (entity.id, into.id):
                links.append(LinkMemories(from_id=row.id, to_id=duplicate.id, kind=LinkKind.POSSIBLE_DUPLICATE))
    revisions = [ReviseMemory(key, versions[key], verb=MERGED, changes=values) for key, values in changes.items()]
    return WritePlan((*_closed(live, changes), *revisions, *links))


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


def preview_merge(*, project_id: UUID, entity_id: UUID, into_id: UUID) -> dict[str, Any]:
    """Return what a merge would change: new names, memories that move, pairs (closed, later), pairs of duplicates.

    Raises NotFound, and Conflict or Unfit for what can't be merged.
    """
    found = Entity.objects.filter(project_id=project_id).select_related("end_user").in_bulk([entity_id, into_id])
    if entity_id not in found or into_id not in found:
        raise NotFound("there is no such entity")
    entity, into = found[entity_id], found[into_id]
    check_merge(entity, into)
    rows = {row.id: row for row in pointing_at(entity, into)}
    plan = moved(list(rows.values()), entity=entity, into=into)
    known = {canonical_text(name) for name in names_of(into)}
    new_names = {canonical_text(name): name for name in names_of(entity) if canonical_text(name) not in known}
    return {
        "entity": entity,
        "into": into,
        "names": list(new_names.values()),
        "moved": [rows[each.memory_id] for each in plan.of(ReviseMemory)],
        "closed": [(rows[each.memory_id], rows[each.superseded_by]) for each in plan.of(SupersedeMemory)],
        "repeated": [(rows[each.from_id], rows[each.to_id]) for each in plan.of(LinkMemories)],
    }


def merge_entities(*, project_id: UUID, entity_id: UUID, into_id: UUID) -> None:
    """Merge an entity into another one; repeating it changes nothing.

    Names become aliases of the entity that stays, and memories refer to it. Two memories that now say the same get a
    link for review; of two values of one stateful slot, the later one closes the other. Raises NotFound, Conflict for
    an entity that was merged into another, Unfit for the end user's own entity or two of different end users.
    """
    with transaction.atomic():
        entity, into = _locked(project_id, entity_id, into_id)
        if entity.merged_into_id == into.id:
            return
        check_merge(entity, into)
        plan = moved(list(pointing_at(entity, into).select_for_update(no_key=True)), entity=entity, into=into)
        apply_decision(project_id=project_id, end_user_id=entity.end_user_id, operations=plan.operations)
        names = {canonical_text(name)[:255]: name for name in names_of(entity)}
        EntityAlias.objects.bulk_create(
            (
                # `source` marks the names that a split removes.
                EntityAlias(end_user_id=into.end_user_id, entity=into, alias=name, folded=folded, source=entity.id.hex)
                for folded, name in names.items()
            ),
            update_conflicts=True,
            unique_fields=["end_user", "entity", "folded"],
            update_fields=["withdrawn"],
        )
        Entity.objects.filter(id=entity.id).update(merged_into=into)
        changed_ids = {  # from which a split undoes the merge
            "into": str(into.id),
            "memories": [str(each.memory_id) for each in plan.of(ReviseMemory)],
            "closed": [str(each.memory_id) for each in plan.of(SupersedeMemory)],
            "links": [[str(each.from_id), str(each.to_id)] for each in plan.of(LinkMemories)],
        }
        _record(entity, verb=MERGED, details=changed_ids)


def _locked(project_id: UUID, *entity_ids: UUID) -> list[Entity]:
    """Lock their end users, then entities in the order of their ids; return them in the order of the arguments.

    The order prevents deadlocks. Raises NotFound.
    """
    wanted = Entity.objects.filter(project_id=project_id, id__in=entity_ids).order_by("id")
    users = sorted(set(wanted.order_by().values_list("end_user_id", flat=True)))
    for end_user_id in users:
        hold_end_user(end_user_id)  # before the entities, in the same order as a direct store
    found = {entity.id: entity for entity in wanted.select_for_update()}
    if any(each not in found for each in entity_ids):
        raise NotFound("there is no such entity")
    return [found[each] for each in entity_ids]


def check_merge(entity: Entity, into: Entity) -> None:
    """Raise Unfit or Conflict for two entities that can't be merged."""
    if entity.id == into.id:
        raise Unfit("must be another entity", at="/into")
    if entity.end_user_id != into.end_user_id:
        raise Unfit("belongs to another end user", at="/into")
    if entity.is_user:
        raise Unfit("can't take in the end user: merge it the other way round", at="/into")
    if entity.withdrawn or into.withdrawn:
        raise Conflict("a rollback has taken one of them back")
    if entity.merged_into_id or into.merged_into_id:
        raise Conflict("one of them is merged into another already")


def names_of(entity: Entity) -> list[str]:
    """Return the name and all aliases of an entity."""
    return [entity.name, *entity.aliases.filter(withdrawn=False).values_list("alias", flat=True)]


def _record(entity: Entity, *, verb: str, details: dict[str, Any]) -> None:
    record(verb, "entity", entity.id, project_id=entity.project_id, end_user_id=entity.end_user_id, details=details)


def split_entities(*, project_id: UUID, entity_id: UUID) -> None:
    """Undo a merge: memories that it changed get their former values, unless they were changed again since.

    Memories that were added since stay with the entity that they name. Raises NotFound, Conflict if nothing was merged.
    """
    with transaction.atomic():
        (entity,) = _locked(project_id, entity_id)
        into_id = entity.merged_into_id
        if into_id is None:
            raise Conflict("the entity is not merged into another")
        entries = LedgerEntry.objects.filter(end_user_id=entity.end_user_id, object_id=entity.id, verb=MERGED)
        recorded = entries.first()
        if recorded is None:
            raise Conflict("the ledger has no record of the merge")
        merged = recorded.details
        EntityAlias.objects.filter(entity_id=into_id, source=entity.id.hex).delete()
        Entity.objects.filter(id=entity.id).update(merged_into=None)
        user = {"project_id": project_id, "end_user_id": entity.end_user_id}
        apply_decision(**user, operations=list(_restored_references(entity, merged["memories"])))
        for memory, before in _values_before(entity, merged["closed"], "superseded"):
            if memory.status != Status.SUPERSEDED:
                continue
            ended = parse_datetime(before["valid_until"] or "")
            opened = {"status": before["status"], "superseded_by_id": None, "valid_until": ended}
            try:
                changes, closing = settle_change(memory=memory, changes=opened)
            except Conflict:  # a live memory says the same by now
                continue
            reopening = ReviseMemory(memory.id, memory.version, verb=SPLIT, changes=changes)
            apply_decision(**user, operations=[reopening, *closing])
        linked = Q(from_memory__in=[each for each, _ in merged["links"]], kind=LinkKind.POSSIBLE_DUPLICATE)
        MemoryLink.objects.filter(linked, end_user_id=entity.end_user_id, status=LinkStatus.OPEN).update(
            status=LinkStatus.SETTLED, resolution=SPLIT, settled_at=timezone.now()
        )
        _record(entity, verb=SPLIT, details={"from": str(into_id)})


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
            found = canonical_hash(read_statement(memory, **changes))
            if memory.status in LIVE_STATUSES:
                live = Memory.objects.live().filter(end_user_id=memory.end_user_id, canonical_hash=found)
                if found in given or live.exclude(id=memory.id).exists():
                    found = salted_hash(found, memory_id=memory.id)
                given.add(found)
            changes["canonical_hash"] = found
            yield ReviseMemory(memory.id, memory.version, verb=SPLIT, changes=changes)


def redact_aliases(*, project_id: UUID, policy: RedactionPolicy, is_dry_run: bool) -> int:
    """Redact the aliases of a project's entities and return how many; of those that become the same, one stays."""
    changed = 0
    for alias in EntityAlias.objects.filter(end_user__project_id=project_id).order_by("pk").iterator():
        name = redact(alias.alias, policy=policy).text
        if name == alias.alias:
            continue
        changed += 1
        if is_dry_run:
            continue
        alias.alias, alias.folded = name[:255], canonical_text(name)[:255]
        same = EntityAlias.objects.filter(end_user_id=alias.end_user_id, entity_id=alias.entity_id, folded=alias.folded)
        with transaction.atomic():
            if same.exclude(pk=alias.pk).exists():
                alias.delete()
            else:
                alias.save(update_fields=["alias", "folded"])
    return changed
