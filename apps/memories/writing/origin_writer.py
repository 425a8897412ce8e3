"""Which turns say a memory; how one memory hands them to another that says the same, and back."""

from datetime import datetime
from uuid import UUID

from apps.memories.models import MemoryOrigin
from apps.memories.writing.write_context import WriteContext
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.operations import CopyOrigins, RemoveCopiedOrigins
from apps.pipeline.core.operations import PlannedOrigin as PlannedOrigin
from apps.pipeline.core.plan import WritePlan


def add_origins(*, plan: WritePlan, context: WriteContext) -> None:
    """Write the turns that say what a trace writes; what has no trace was said in no turn."""
    trace_id = context.trace_id
    if trace_id is None:
        return
    MemoryOrigin.objects.bulk_create(
        (
            _row(context.end_user_id, trace_id, statement.memory_id, origin)
            for statement in plan.statements()
            for origin in statement.origins
        ),
        ignore_conflicts=True,
    )


def _row(end_user_id: UUID, trace_id: UUID, memory_id: UUID, origin: PlannedOrigin) -> MemoryOrigin:
    return MemoryOrigin(
        end_user_id=end_user_id,
        memory_id=memory_id,
        trace_id=trace_id,
        session_id=origin.session_id,
        turn_id=origin.turn.id,
        api_key_id=origin.api_key_id,
        role=origin.turn.role,
        evidence=origin.evidence,
        said_at=origin.turn.said_at,
    )


def move_origins(*, plan: WritePlan, end_user_id: UUID, now: datetime) -> None:
    """Copy sources that the successor doesn't have yet; take back those that it got in that way, and no other."""
    mine = MemoryOrigin.objects.filter(end_user_id=end_user_id)
    for adoption in plan.of(CopyOrigins):
        adopted = list(mine.filter(memory_id=adoption.from_id))
        for origin in adopted:
            origin.id, origin.memory_id, origin.created_at = new_id(), adoption.memory_id, now
        MemoryOrigin.objects.bulk_create(adopted, ignore_conflicts=True)
    for return_ in plan.of(RemoveCopiedOrigins):
        turns = mine.filter(memory_id=return_.from_id).values("turn_id")
        mine.filter(memory_id=return_.memory_id, turn_id__in=turns, created_at__gte=return_.since).delete()
