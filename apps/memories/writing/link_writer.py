"""Link memories, settle links, open them again."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import connection

from apps.memories.models import MemoryLink
from apps.memories.writing.write_context import WriteContext
from apps.pipeline.core.enums import LinkStatus
from apps.pipeline.core.operations import LinkMemories, SetLinkStatus
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import StalePlan

# Within a pipeline only rows tell whether there was one: the queryset's update() is not told by then.
_MARKED = """
update memories_memorylink set status = %(status)s, resolution = %(resolution)s, settled_at = %(settled_at)s
where end_user_id = %(end_user)s and from_memory_id = %(one)s and to_memory_id = %(other)s and kind = %(kind)s
  and status = %(expected)s
returning 1
"""


def link_memories(*, plan: WritePlan, context: WriteContext) -> None:
    """Link memories that a person has to look at together; a pair that is linked already stays as it is."""
    wanted = plan.of(LinkMemories)
    known = _linked_in_reverse(wanted, context.end_user_id)
    MemoryLink.objects.bulk_create(
        (
            MemoryLink(
                end_user_id=context.end_user_id,
                project_id=context.project_id,
                from_memory_id=operation.from_id,
                to_memory_id=operation.to_id,
                kind=operation.kind,
                trace_id=context.trace_id,
            )
            for operation in wanted
            if (operation.to_id, operation.from_id, operation.kind) not in known
        ),
        ignore_conflicts=True,
    )


def _linked_in_reverse(wanted: Sequence[LinkMemories], end_user_id: UUID) -> set[tuple[UUID, UUID, str]]:
    """Return the links from the memories to which others are to be linked: a settled pair is not asked about again."""
    if not wanted:
        return set()
    links = MemoryLink.objects.filter(end_user_id=end_user_id, from_memory__in={each.to_id for each in wanted})
    return set(links.values_list("from_memory_id", "to_memory_id", "kind"))


def mark_links(*, plan: WritePlan, end_user_id: UUID, now: datetime) -> None:
    """Give links their new standing. Raises StalePlan where somebody else was faster."""
    for mark in plan.of(SetLinkStatus):
        values = {
            "end_user": end_user_id,
            "one": mark.from_id,
            "other": mark.to_id,
            "kind": mark.kind.value,
            "expected": mark.expected.value,
            "status": mark.status.value,
            "resolution": mark.resolution,
            "settled_at": now if mark.status is LinkStatus.SETTLED else None,
        }
        with connection.cursor() as cursor:
            cursor.execute(_MARKED, values)
            changed = cursor.fetchall()
        if not changed:
            raise StalePlan(f"the link of {mark.from_id} and {mark.to_id} is no longer {mark.expected}")
