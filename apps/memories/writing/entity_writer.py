"""Write entities, their mentions and their names; take back what traces made of them, as a rollback plans it.

What a trace does to names is recorded as an `EntityChange`, so that a rollback can take it back. The writer has locked
the end user, so no other transaction writes names of the same entities.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Case, F, Value, When
from django.db.models.functions import Greatest

from apps.memories.models import Entity, EntityAlias, EntityChange
from apps.memories.reading.memory_state import mentions_of
from apps.memories.writing.rows import WriteContext
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import EntityChangeKind
from apps.pipeline.core.operations import (
    AddAlias,
    AddEntity,
    CountAlias,
    MarkEntityChanges,
    ReassignAlias,
    RenameEntity,
    ReviseEntity,
)
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import StalePlan


def add_entities(*, plan: WritePlan, context: WriteContext, now: datetime) -> None:
    """Insert new entities, and count mentions. Raises StalePlan if an entity has been merged into another.

    Mentions have the time of the plan's last turn, so that an import of old conversations mentions nobody today.
    """
    mentioned, said_at = mentions_of(plan, now=now)
    Entity.objects.bulk_create(
        Entity(
            id=operation.entity.id,
            end_user_id=context.end_user_id,
            project_id=context.project_id,
            name=operation.entity.name[:255],
            type=operation.entity.type,
            is_user=operation.entity.is_user,
            mention_count=0,
            last_mentioned_at=said_at,
            added_by=context.trace_id,
        )
        for operation in plan.of(AddEntity)
    )
    if not mentioned:
        return
    counted = Entity.objects.standing().filter(end_user_id=context.end_user_id, id__in=mentioned)
    found = counted.update(
        mention_count=F("mention_count") + 1, last_mentioned_at=Greatest("last_mentioned_at", Value(said_at))
    )
    if found != len(mentioned):
        raise StalePlan("an entity has been merged into another or withdrawn since the plan was made")


def add_aliases(*, plan: WritePlan, context: WriteContext, now: datetime) -> None:
    """Insert the names of new and known entities, and count known names."""
    pairs = [(each.entity.id, name) for each in plan.of(AddEntity) for name in each.entity.aliases]
    pairs += [(operation.entity_id, operation.alias) for operation in plan.of(AddAlias)]
    pairs += [(operation.entity_id, operation.alias) for operation in plan.of(ReassignAlias)]
    names = {(entity_id, _folded(alias)): alias[:255] for entity_id, alias in pairs}
    if not names:
        return
    rows = EntityAlias.objects.filter(
        end_user_id=context.end_user_id,
        entity__in={entity_id for entity_id, _ in names},
        folded__in={folded for _, folded in names},
    )
    known = [row for row in rows if (row.entity_id, row.folded) in names]
    for row in known:
        row.count = 1 if row.withdrawn else row.count + 1
        row.withdrawn = False
    EntityAlias.objects.bulk_update(known, ["count", "withdrawn"])
    missing = names.keys() - {(row.entity_id, row.folded) for row in known}
    added = [
        EntityAlias(
            end_user_id=context.end_user_id, entity_id=entity_id, alias=alias, folded=folded, count=1, created_at=now
        )
        for (entity_id, folded), alias in names.items()
        if (entity_id, folded) in missing
    ]
    EntityAlias.objects.bulk_create(added)
    _record([_change(row, EntityChangeKind.NAMED, uses=1) for row in (*known, *added)], context, now)


def rename_entities(*, plan: WritePlan, context: WriteContext, now: datetime) -> None:
    """Rename entities; the former names stay as aliases."""
    names = {operation.entity_id: operation.name for operation in plan.of(RenameEntity)}
    if not names:
        return
    user = context.end_user_id
    entities = list(Entity.objects.filter(end_user_id=user, id__in=names).select_for_update(no_key=True))
    formers: list[EntityAlias] = []
    renamings: list[EntityChange] = []
    for entity in entities:
        former, name = entity.name, names[entity.id][:255]
        alias = EntityAlias(end_user_id=user, entity=entity, alias=former, folded=_folded(former), created_at=now)
        formers.append(alias)
        kind = EntityChangeKind.RENAMED
        renamings.append(EntityChange(entity=entity, kind=kind, alias=name, folded=_folded(name), former=former))
        entity.name = name
    EntityAlias.objects.bulk_create(
        formers,
        update_conflicts=True,
        unique_fields=["end_user", "entity", "folded"],
        update_fields=["withdrawn"],
    )
    _record(renamings, context, now)
    Entity.objects.bulk_update(entities, ["name"])


def move_aliases(*, plan: WritePlan, context: WriteContext, now: datetime) -> None:
    """Delete descriptions from the entities that had them before: "User's manager" is one person at a time."""
    for operation in plan.of(ReassignAlias):
        taken = EntityAlias.objects.filter(
            end_user_id=context.end_user_id, folded=_folded(operation.alias), withdrawn=False
        ).exclude(entity_id=operation.entity_id)
        _record([_change(row, EntityChangeKind.TAKEN, uses=row.count) for row in taken], context, now)
        taken.delete()


def _folded(name: str) -> str:
    return canonical_text(name)[:255]


def _change(row: EntityAlias, kind: EntityChangeKind, *, uses: int) -> EntityChange:
    return EntityChange(entity_id=row.entity_id, kind=kind, alias=row.alias, folded=row.folded, uses=uses)


def _record(changes: list[EntityChange], context: WriteContext, now: datetime) -> None:
    """Insert changes of a trace; what people and callers change is not taken back by a rollback."""
    if context.trace_id is None:
        return
    for change in changes:
        change.end_user_id, change.trace_id, change.created_at = context.end_user_id, context.trace_id, now
    EntityChange.objects.bulk_create(changes)


def revise_entities(*, plan: WritePlan, end_user_id: UUID, now: datetime) -> None:
    """Change entities, the counts of their names, and the records of what traces did to them, as a rollback plans."""
    for revision in plan.of(ReviseEntity):
        given = {"name": revision.name, "withdrawn": revision.withdrawn}
        changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        Entity.objects.filter(end_user_id=end_user_id, id=revision.entity_id).update(
            mention_count=Greatest(F("mention_count") + revision.mentions, 0), **changes
        )
    for counted in plan.of(CountAlias):
        folded, uses = _folded(counted.alias), counted.uses
        rows = EntityAlias.objects.filter(end_user_id=end_user_id, entity_id=counted.entity_id, folded=folded)
        if uses <= 0:  # a name without uses is withdrawn
            rows.filter(withdrawn=False).update(
                count=Greatest(F("count") + uses, 0), withdrawn=Case(When(count__lte=-uses, then=True), default=False)
            )
        elif not rows.update(count=Case(When(withdrawn=True, then=uses), default=F("count") + uses), withdrawn=False):
            # The name that comes back had been taken by another entity.
            rows.create(
                end_user_id=end_user_id,
                entity_id=counted.entity_id,
                alias=counted.alias[:255],
                folded=folded,
                count=uses,
                created_at=now,
            )
    for mark in plan.of(MarkEntityChanges):
        marked = EntityChange.objects.filter(end_user_id=end_user_id, id__in=mark.change_ids)
        marked.update(withdrawn=mark.withdrawn)
