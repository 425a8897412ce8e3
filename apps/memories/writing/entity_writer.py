"""Write entities, their mentions and their names."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from apps.memories.models import Entity, EntityAlias, EntityChange
from apps.memories.writing.insert_rows import insert_rows
from apps.memories.writing.write_context import WriteContext
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import EntityChangeKind
from apps.pipeline.core.operations import AddAlias, AddEntity, ReassignAlias, RenameEntity
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import StalePlan
from apps.tenants.constant_statements import fetch_constant

# Returns rows, because within psycopg's pipeline mode an update's row count is not known yet.
_MENTIONED = """
update memories_entity set mention_count = mention_count + 1, last_mentioned_at = greatest(last_mentioned_at, %s)
where end_user_id = %s and id = any(%s) and merged_into_id is null and not withdrawn returning 1
"""
# What a trace does to names is recorded, so that a rollback can take it back. With "returning", Citus inserts what it
# has selected by an INSERT: without, by COPY, which row-level security refuses.
_RECORD = """
insert into memories_entitychange (id, end_user_id, entity_id, trace_id, kind, alias, folded, former, uses, created_at)
select gen_random_uuid(), %(end_user)s, entity_id, %(trace)s, %(kind)s, alias, folded, '', count, now()
from changed where %(trace)s::uuid is not null returning 1
"""
_ADD_ALIASES = f"""
with changed as (
    insert into memories_entityalias as known (id, end_user_id, entity_id, alias, folded, source, count, created_at)
    select gen_random_uuid(), %(end_user)s, entity, alias, folded, 'turn', 1, %(now)s
    from unnest(%(entities)s::uuid[], %(aliases)s::text[], %(folded)s::text[]) as given(entity, alias, folded)
    on conflict (end_user_id, entity_id, folded) do update
        set count = case when known.withdrawn then 1 else known.count + 1 end, withdrawn = false
    returning entity_id, alias, folded, 1 as count
) {_RECORD}
"""  # noqa: S608  (only constants of this module)
_TAKE_ALIASES = f"""
with changed as (
    delete from memories_entityalias
    where end_user_id = %(end_user)s and folded = %(folded)s and entity_id <> %(entity)s and not withdrawn
    returning entity_id, alias, folded, count
) {_RECORD}
"""  # noqa: S608  (only constants of this module)


def add_entities(*, plan: WritePlan, context: WriteContext, now: datetime) -> None:
    """Insert new entities, and count mentions. Raises StalePlan if an entity has been merged into another.

    Mentions have the time of the plan's last turn, so that an import of old conversations mentions nobody today.
    """
    origins = (origin for each in plan.statements() for origin in each.origins)
    said_at = max((origin.turn.said_at for origin in origins), default=now)
    rows = (
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
    insert_rows(Entity, rows)
    _count_mentions(plan, context, said_at)


def _count_mentions(plan: WritePlan, context: WriteContext, said_at: datetime) -> None:
    candidates = [each.candidate for each in plan.statements()]
    mentions = (mention for each in candidates for mention in (each.subject, each.object.entity) if mention is not None)
    mentioned = {mention.entity_id for mention in mentions if mention.entity_id is not None}
    if not mentioned:
        return
    found = fetch_constant(_MENTIONED, [said_at, context.end_user_id, list(mentioned)])
    if len(found) != len(mentioned):
        raise StalePlan("an entity has been merged into another or withdrawn since the plan was made")


def add_aliases(*, plan: WritePlan, context: WriteContext, now: datetime) -> None:
    """Insert the names of new and known entities, and count known names."""
    pairs = [(each.entity.id, name) for each in plan.of(AddEntity) for name in each.entity.aliases]
    pairs += [(operation.entity_id, operation.alias) for operation in plan.of(AddAlias)]
    pairs += [(operation.entity_id, operation.alias) for operation in plan.of(ReassignAlias)]
    names = {(entity_id, canonical_text(alias)[:255]): alias[:255] for entity_id, alias in pairs}
    if not names:
        return
    values: dict[str, Any] = {
        "end_user": context.end_user_id,
        "trace": context.trace_id,
        "kind": EntityChangeKind.NAMED.value,
        "now": now,
        "entities": [entity_id for entity_id, _ in names],
        "folded": [folded for _, folded in names],
        "aliases": list(names.values()),
    }
    with connection.cursor() as cursor:
        cursor.execute(_ADD_ALIASES, values)


def rename_entities(*, plan: WritePlan, context: WriteContext, now: datetime) -> None:
    """Rename entities; the former names stay as aliases."""
    names = {operation.entity_id: operation.name for operation in plan.of(RenameEntity)}
    if not names:
        return
    user = context.end_user_id
    entities = list(Entity.objects.filter(end_user_id=user, id__in=names).select_for_update(no_key=True))
    EntityAlias.objects.bulk_create(
        (
            EntityAlias(
                end_user_id=user,
                entity=entity,
                alias=entity.name,
                folded=canonical_text(entity.name)[:255],
                created_at=now,
            )
            for entity in entities
        ),
        update_conflicts=True,
        unique_fields=["end_user", "entity", "folded"],
        update_fields=["withdrawn"],
    )
    if context.trace_id is not None:
        _record_renaming(entities, names, trace_id=context.trace_id)
    for entity in entities:
        entity.name = names[entity.id][:255]
    Entity.objects.bulk_update(entities, ["name"])


def _record_renaming(entities: Iterable[Entity], names: Mapping[UUID, str], *, trace_id: UUID) -> None:
    EntityChange.objects.bulk_create(
        EntityChange(
            end_user_id=entity.end_user_id,
            entity=entity,
            trace_id=trace_id,
            kind=EntityChangeKind.RENAMED,
            alias=names[entity.id][:255],
            folded=canonical_text(names[entity.id])[:255],
            former=entity.name,
        )
        for entity in entities
    )


def move_aliases(*, plan: WritePlan, context: WriteContext) -> None:
    """Delete descriptions from the entities that had them before: "User's manager" is one person at a time."""
    for operation in plan.of(ReassignAlias):
        values = {
            "end_user": context.end_user_id,
            "trace": context.trace_id,
            "kind": EntityChangeKind.TAKEN.value,
            "folded": canonical_text(operation.alias)[:255],
            "entity": operation.entity_id,
        }
        with connection.cursor() as cursor:
            cursor.execute(_TAKE_ALIASES, values)
