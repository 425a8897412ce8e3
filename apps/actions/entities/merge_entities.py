"""Merge two entities that are the same: memories then refer to one of them, and their history stays."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.actions.entities.entity_merge_operations import MERGED, moved, pointing_at
from apps.actions.errors import Conflict, NotFound, Unfit
from apps.actions.get_or_create import actor_of, hold_end_user
from apps.memories.models import Entity, EntityAlias, LedgerEntry
from apps.memories.writing.plan_writer import apply_plan
from apps.memories.writing.write_context import WriteContext
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.operations import LinkMemories, Operation, ReviseMemory, SupersedeMemory
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import StalePlan


@dataclass(frozen=True, slots=True)
class EntityMerge:
    """Which entity is merged into which, and who asked for it."""

    project_id: UUID
    entity_id: UUID
    into_id: UUID
    api_key_id: UUID | None = None
    person_id: int | None = None


def merge_entities(*, merge: EntityMerge) -> None:
    """Merge an entity into another one; repeating it changes nothing.

    Names become aliases of the entity that stays, and memories refer to it. Two memories that now say the same get a
    link for review; of two values of one stateful slot, the later one closes the other. Raises NotFound, Conflict for
    an entity that was merged into another, Unfit for the end user's own entity or two of different end users.
    """
    with transaction.atomic():
        entity, into = locked_entities(merge.project_id, merge.entity_id, merge.into_id)
        if entity.merged_into_id == into.id:
            return
        check_merge(entity, into)
        operations = moved(list(pointing_at(entity, into).select_for_update(no_key=True)), entity=entity, into=into)
        apply_to(merge, entity, operations)
        _copy_names(entity, into)
        Entity.objects.filter(id=entity.id).update(merged_into=into)
        plan = WritePlan(operations=tuple(operations))
        changed_ids = {  # from which a split undoes the merge
            "into": str(into.id),
            "memories": [str(each.memory_id) for each in plan.of(ReviseMemory)],
            "closed": [str(each.memory_id) for each in plan.of(SupersedeMemory)],
            "links": [[str(each.from_id), str(each.to_id)] for each in plan.of(LinkMemories)],
        }
        record_merge(merge, entity, verb=MERGED, details=changed_ids)


def locked_entities(project_id: UUID, *entity_ids: UUID) -> list[Entity]:
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


def apply_to(merge: EntityMerge, entity: Entity, operations: list[Operation]) -> None:
    """Apply operations on an entity's memories. Raises Conflict if another writer has changed them."""
    context = WriteContext(
        project_id=entity.project_id,
        end_user_id=entity.end_user_id,
        actor=actor_of(merge.api_key_id, merge.person_id),
        api_key_id=merge.api_key_id,
    )
    try:
        apply_plan(plan=WritePlan(operations=tuple(operations)), context=context)
    except StalePlan as stale:
        raise Conflict("somebody else was faster") from stale


def _copy_names(entity: Entity, into: Entity) -> None:
    """Copy all names to the entity that stays; `source` marks those that a split removes."""
    names = {canonical_text(name)[:255]: name for name in names_of(entity)}
    EntityAlias.objects.bulk_create(
        (
            EntityAlias(end_user_id=into.end_user_id, entity=into, alias=name, folded=folded, source=entity.id.hex)
            for folded, name in names.items()
        ),
        update_conflicts=True,
        unique_fields=["end_user", "entity", "folded"],
        update_fields=["withdrawn"],
    )


def names_of(entity: Entity) -> list[str]:
    """Return the name and all aliases of an entity."""
    return [entity.name, *entity.aliases.filter(withdrawn=False).values_list("alias", flat=True)]


def record_merge(merge: EntityMerge, entity: Entity, *, verb: str, details: dict[str, Any]) -> None:
    """Add a merge or split to the ledger."""
    LedgerEntry.objects.create(
        end_user_id=entity.end_user_id,
        project_id=entity.project_id,
        actor=actor_of(merge.api_key_id, merge.person_id),
        verb=verb,
        object_kind="entity",
        object_id=entity.id,
        details=details,
        created_at=timezone.now(),
    )
