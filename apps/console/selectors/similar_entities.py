"""Candidates for merging with an entity."""

from django.db.models import Case, Value, When

from apps.memories.models import Entity
from apps.memories.querysets import EntityQuerySet


def merge_candidates(entity: Entity) -> EntityQuerySet:
    """Return the other entities of the same end user: same type first, then most mentioned."""
    rows = Entity.objects.standing().filter(end_user=entity.end_user_id).exclude(pk=entity.pk)
    type_rank = Case(When(type=entity.type, then=Value(0)), default=Value(1))
    return rows.order_by(type_rank, "-mention_count", "id")
