"""Create links between memories, settle and reopen them."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from apps.memories.models import MemoryLink
from apps.memories.writing.write_context import WriteContext
from apps.pipeline.core.enums import LinkStatus
from apps.pipeline.core.operations import ROLLED_BACK, LinkMemories, SetLinkStatus
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import StalePlan


def link_memories(*, plan: WritePlan, context: WriteContext) -> None:
    """Link memories for review; a pair that is linked already, in either direction, is not linked again."""
    wanted = plan.of(LinkMemories)
    reverse = MemoryLink.objects.filter(
        end_user_id=context.end_user_id, from_memory__in={each.to_id for each in wanted}
    ).values_list("from_memory_id", "to_memory_id", "kind")
    known = set(reverse) if wanted else set()
    _reopen_rolled_back(wanted, context)
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


def _reopen_rolled_back(wanted: Sequence[LinkMemories], context: WriteContext) -> None:
    """Open links again that a rollback has closed and that a trace finds anew."""
    closed = MemoryLink.objects.filter(
        end_user_id=context.end_user_id, status=LinkStatus.SETTLED, resolution=ROLLED_BACK
    )
    for operation in wanted:
        pair = (operation.from_id, operation.to_id)
        same = closed.filter(kind=operation.kind, from_memory__in=pair, to_memory__in=pair)
        same.update(status=LinkStatus.OPEN, resolution="", settled_at=None, trace_id=context.trace_id)


def mark_links(*, plan: WritePlan, end_user_id: UUID, now: datetime) -> None:
    """Set the status of links. Raises StalePlan if a link no longer has the expected status."""
    for mark in plan.of(SetLinkStatus):
        changed = MemoryLink.objects.filter(
            end_user_id=end_user_id,
            from_memory_id=mark.from_id,
            to_memory_id=mark.to_id,
            kind=mark.kind,
            status=mark.expected,
        ).update(
            status=mark.status,
            resolution=mark.resolution,
            settled_at=now if mark.status is LinkStatus.SETTLED else None,
        )
        if not changed:
            raise StalePlan(f"the link of {mark.from_id} and {mark.to_id} is no longer {mark.expected}")
