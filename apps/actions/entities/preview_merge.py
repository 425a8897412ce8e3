"""Say what the merge of two entities would do, without doing it."""

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
    """What would come of a merge; pairs are of memories."""

    entity: Entity
    into: Entity
    names: tuple[str, ...]  # that the one which stays is not called yet
    moved: tuple[Memory, ...]  # said of the one that stays from then on
    closed: tuple[tuple[Memory, Memory], ...]  # a value, and the later one that closes it
    repeated: tuple[tuple[Memory, Memory], ...]  # two that may say the same, for a person to look at


def preview_merge(*, project_id: UUID, entity_id: UUID, into_id: UUID) -> MergePreview:
    """Plan a merge as `merge_entities` does. Raises NotFound, and Conflict or Unfit for what can't be merged."""
    found = Entity.objects.filter(project_id=project_id).select_related("end_user").in_bulk([entity_id, into_id])
    if entity_id not in found or into_id not in found:
        raise NotFound("there is no such entity")
    entity, into = found[entity_id], found[into_id]
    check_merge(entity, into)
    rows = {row.id: row for row in pointing_at(entity, into)}
    plan = WritePlan(operations=tuple(moved(list(rows.values()), entity=entity, into=into)))
    return MergePreview(
        entity=entity,
        into=into,
        names=_new_names(entity, into),
        moved=tuple(rows[each.memory_id] for each in plan.of(ReviseMemory)),
        closed=tuple((rows[each.memory_id], rows[each.superseded_by]) for each in plan.of(SupersedeMemory)),
        repeated=tuple((rows[each.from_id], rows[each.to_id]) for each in plan.of(LinkMemories)),
    )


def _new_names(entity: Entity, into: Entity) -> tuple[str, ...]:
    known = {canonical_text(name) for name in names_of(into)}
    new = {canonical_text(name): name for name in names_of(entity)}
    return tuple(name for folded, name in new.items() if folded not in known)
