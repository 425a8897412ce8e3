"""Take back what traces made of entities and their names, as a rollback plans it, or restore it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import F
from django.db.models.functions import Greatest

from apps.memories.models import Entity, EntityChange
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.operations import CountAlias, MarkEntityChanges, ReviseEntity
from apps.pipeline.core.plan import WritePlan

# A name that nobody has said for a while may have been taken by another entity; what comes back is added again.
_COUNT_ALIAS = """
insert into memories_entityalias as known (id, end_user_id, entity_id, alias, folded, source, count, created_at)
select gen_random_uuid(), %(end_user)s, %(entity)s, %(alias)s, %(folded)s, 'turn', %(uses)s, %(now)s where %(uses)s > 0
on conflict (end_user_id, entity_id, folded) do update
    set count = case when known.withdrawn then 0 else known.count end + excluded.count, withdrawn = false
"""
_UNCOUNT_ALIAS = """
update memories_entityalias set count = greatest(count + %(uses)s, 0), withdrawn = count + %(uses)s <= 0
where end_user_id = %(end_user)s and entity_id = %(entity)s and folded = %(folded)s and not withdrawn
"""


def revise_entities(*, plan: WritePlan, end_user_id: UUID, now: datetime) -> None:
    """Change entities, the counts of their names, and the records of what traces did to them."""
    for revision in plan.of(ReviseEntity):
        _revise(revision, end_user_id)
    for counted in plan.of(CountAlias):
        values: dict[str, Any] = {
            "end_user": end_user_id,
            "entity": counted.entity_id,
            "alias": counted.alias[:255],
            "folded": canonical_text(counted.alias)[:255],
            "uses": counted.uses,
            "now": now,
        }
        with connection.cursor() as cursor:
            cursor.execute(_COUNT_ALIAS if counted.uses > 0 else _UNCOUNT_ALIAS, values)
    for mark in plan.of(MarkEntityChanges):
        changes = EntityChange.objects.filter(end_user_id=end_user_id, id__in=mark.change_ids)
        changes.update(withdrawn=mark.withdrawn)


def _revise(revision: ReviseEntity, end_user_id: UUID) -> None:
    given = {
        "name": revision.name,
        "withdrawn": revision.withdrawn,
        "last_mentioned_at": revision.last_mentioned_at,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    Entity.objects.filter(end_user_id=end_user_id, id=revision.entity_id).update(
        mention_count=Greatest(F("mention_count") + revision.mentions, 0), **changes
    )
