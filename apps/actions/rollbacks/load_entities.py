"""Load the entities that traces brought, named or mentioned."""

from collections.abc import Collection, Sequence
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from apps.actions.rollbacks.entities import EntityTakings
from apps.actions.rollbacks.history import EntityHistory, EntityRecord
from apps.memories.models import Entity, EntityAlias, EntityChange, Memory
from apps.pipeline.core.enums import EntityChangeKind, Status
from apps.pipeline.core.identifiers import Prefix, parse, show


def load_entities(
    *, end_user_id: UUID, traces: Collection[UUID], mentioned: Collection[UUID]
) -> tuple[EntityHistory, ...]:
    """Read the entities that traces brought or named, those mentioned, and who has a description that traces took."""
    records = EntityChange.objects.filter(end_user_id=end_user_id, withdrawn=False)
    of_traces = records.filter(trace_id__in=traces)
    taken = of_traces.filter(kind=EntityChangeKind.TAKEN).values("folded")
    named = {
        *mentioned,
        *of_traces.values_list("entity_id", flat=True),
        *Entity.objects.filter(end_user_id=end_user_id, added_by__in=traces).values_list("id", flat=True),
        *EntityAlias.objects.filter(end_user_id=end_user_id, folded__in=taken).values_list("entity_id", flat=True),
    }
    return _entities(end_user_id, named, list(records.filter(entity_id__in=named)))


def load_taken_entities(*, end_user_id: UUID, takings: EntityTakings) -> tuple[EntityHistory, ...]:
    """Read the entities that a rollback touched, with the records that it withdrew."""
    records = list(EntityChange.objects.filter(end_user_id=end_user_id, withdrawn=True, id__in=takings.records))
    ids = {*takings.withdrawn, *(takings.mentions or {}), *(each.entity_id for each in records)}
    return _entities(end_user_id, ids, records)


def load_referring(*, end_user_id: UUID, entity_ids: Sequence[UUID]) -> dict[UUID, frozenset[UUID]]:
    """Return the memories that refer to each entity as subject or object, except for retracted ones."""
    shown = {show(Prefix.ENTITY, each) for each in entity_ids}
    rows = Memory.objects.filter(end_user_id=end_user_id).exclude(status=Status.RETRACTED)
    found: dict[UUID, set[UUID]] = {}
    about = rows.filter(Q(subject_id__in=entity_ids) | Q(object__entity__in=sorted(shown)))
    for memory_id, subject_id, value in about.values_list("id", "subject_id", "object__entity"):
        for entity_id in (subject_id, parse(Prefix.ENTITY, value) if value else None):
            if entity_id is not None:
                found.setdefault(entity_id, set()).add(memory_id)
    return {entity_id: frozenset(memories) for entity_id, memories in found.items()}


def load_holders(*, end_user_id: UUID, entities: Sequence[EntityHistory]) -> dict[str, frozenset[UUID]]:
    """Return which entities have each description that was taken from one of these."""
    taken = {each.folded for entity in entities for each in entity.records if each.kind is EntityChangeKind.TAKEN}
    found: dict[str, set[UUID]] = {}
    aliases = EntityAlias.objects.filter(end_user_id=end_user_id, folded__in=taken, withdrawn=False)
    for folded, entity_id in aliases.values_list("folded", "entity_id"):
        found.setdefault(folded, set()).add(entity_id)
    return {folded: frozenset(holders) for folded, holders in found.items()}


def _entities(end_user_id: UUID, ids: Collection[UUID], records: Sequence[EntityChange]) -> tuple[EntityHistory, ...]:
    merged = Exists(Entity.objects.filter(end_user_id=end_user_id, merged_into_id=OuterRef("id")))
    rows = Entity.objects.filter(end_user_id=end_user_id, id__in=ids).annotate(stands_for_others=merged)
    return tuple(
        EntityHistory(
            id=row.id,
            name=row.name,
            added_by=row.added_by,
            stays=row.is_user or row.merged_into_id is not None or row.stands_for_others,
            records=tuple(_record(each) for each in records if each.entity_id == row.id),
        )
        for row in rows.order_by("id")
    )


def _record(row: EntityChange) -> EntityRecord:
    return EntityRecord(
        id=row.id,
        trace_id=row.trace_id,
        kind=EntityChangeKind(row.kind),
        alias=row.alias,
        folded=row.folded,
        former=row.former,
        uses=row.uses,
    )
