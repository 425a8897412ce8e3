"""Entities that may be the same as another."""

from django.db.models import Case, Value, When

from apps.memories.models import Entity
from apps.memories.querysets import EntityQuerySet


def others_than(entity: Entity) -> EntityQuerySet:
    """Return the other entities of the same end user: those of its kind first, of these the most mentioned."""
    rows = Entity.objects.filter(end_user=entity.end_user_id, merged_into__isnull=True).exclude(pk=entity.pk)
    of_another_kind = Case(When(type=entity.type, then=Value(0)), default=Value(1))
    return rows.order_by(of_another_kind, "-mention_count", "id")
