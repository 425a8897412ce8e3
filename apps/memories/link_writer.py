"""Link memories, settle links, open them again."""

from datetime import datetime
from uuid import UUID

from apps.memories.models import MemoryLink
from apps.memories.write_context import WriteContext
from apps.pipeline.operations import LinkMemories, MarkLink
from apps.pipeline.plan import WritePlan
from apps.pipeline.ports import StalePlan
from apps.pipeline.vocabulary import LinkStatus


def link_memories(*, plan: WritePlan, context: WriteContext) -> None:
    """Link memories that a person has to look at together; a link that is there already stays as it is."""
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
            for operation in plan.of(LinkMemories)
        ),
        ignore_conflicts=True,
    )


def mark_links(*, plan: WritePlan, end_user_id: UUID, now: datetime) -> None:
    """Give links their new standing. Raises StalePlan where somebody else was faster."""
    for mark in plan.of(MarkLink):
        link = MemoryLink.objects.filter(
            end_user_id=end_user_id, from_memory=mark.from_id, to_memory=mark.to_id, kind=mark.kind
        )
        settled_at = now if mark.status is LinkStatus.SETTLED else None
        changed = link.filter(status=mark.expected).update(
            status=mark.status, resolution=mark.resolution, settled_at=settled_at
        )
        if not changed:
            raise StalePlan(f"the link of {mark.from_id} and {mark.to_id} is no longer {mark.expected}")
