"""Preview the merge of two entities; nothing is written."""

from dataclasses import dataclass
from uuid import UUID

from apps.actions.entities.entity_merge_operations import moved, pointing_at
from apps.actions.entities.merge_entities import check_merge, names_of
from apps.actions.errors import NotFound
from apps.memories.models import Entity, Memory
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.operations import LinkMemories, ReviseMemory, SupersedeMemory
from apps.pipeline.core.plan import WritePlan


@dataclass(frozen=True, slots=True)
class MergePreview:
    """What a merge would change; pairs are of memories."""

    entity: Entity
    into: Entity
    names: tuple[str, ...]  # new aliases of the entity that stays
    moved: tuple[Memory, ...]  # memories that would refer to the entity that stays
    closed: tuple[tuple[Memory, Memory], ...]  # a value, and the later one that closes it
    repeated: tuple[tuple[Memory, Memory], ...]  # possible duplicates, for review


def preview_merge(*, project_id: UUID, entity_id: UUID, into_id: UUID) -> MergePreview:
    """Plan a merge as `merge_entities` does. Raises NotFound, and Conflict or Unfit for what can't be merged."""
    found = Entity.objects.filter(project_id=project_id).select_related("end_user").in_bulk([entity_id, into_id])
    if entity_id not in found or into_id not in found:
        raise NotFound("there is no such entity")
    entity, into = found[entity_id], found[into_id]
    check_merge(entity, into)
    rows = {row.id: row for row in pointing_at(entity, into)}
    plan = WritePlan(operations=tuple(moved(list(rows.values()), entity=entity, into=into)))
    known = {canonical_text(name) for name in names_of(into)}
    new_names = {canonical_text(name): name for name in names_of(entity) if canonical_text(name) not in known}
    return MergePreview(
        entity=entity,
        into=into,
        names=tuple(new_names.values()),
        moved=tuple(rows[each.memory_id] for each in plan.of(ReviseMemory)),
        closed=tuple((rows[each.memory_id], rows[each.superseded_by]) for each in plan.of(SupersedeMemory)),
        repeated=tuple((rows[each.from_id], rows[each.to_id]) for each in plan.of(LinkMemories)),
    )
