"""Write the origins of memories, copy them to a merged memory, withdraw and restore them."""

from datetime import datetime
from uuid import UUID

from apps.memories.models import MemoryOrigin
from apps.memories.writing.write_context import WriteContext
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.operations import CopyOrigins, RemoveCopiedOrigins, RestoreOrigins, WithdrawOrigins
from apps.pipeline.core.operations import PlannedOrigin as PlannedOrigin
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import StalePlan
from apps.traces.models import Turn


def keep_quoted_turns(*, plan: WritePlan, context: WriteContext) -> None:
    """Lock the turns that a plan quotes, so that they are not deleted before it is committed.

    Turns of the trace that is run need no lock: nothing is deleted of a trace that has not ended. No foreign key holds
    the others. Raises StalePlan if one is gone.
    """
    quoted = {origin.turn.id for statement in plan.statements() for origin in statement.origins}
    turns = Turn.objects.filter(end_user_id=context.end_user_id, id__in=quoted).order_by("id")
    if len(turns.select_for_update(no_key=True).values_list("id")) < len(quoted):
        raise StalePlan("a quoted turn was deleted")


def add_origins(*, plan: WritePlan, context: WriteContext) -> None:
    """Insert the origins of the memories that a trace writes; memories without a trace have none."""
    if context.trace_id is None:
        return
    rows = (
        MemoryOrigin(
            end_user_id=context.end_user_id,
            memory_id=statement.memory_id,
            trace_id=context.trace_id,
            session_id=origin.session_id,
            turn_id=origin.turn.id,
            api_key_id=origin.api_key_id,
            role=origin.turn.role,
            evidence=origin.evidence,
            said_at=origin.turn.said_at,
        )
        for statement in plan.statements()
        for origin in statement.origins
    )
    # A trace that runs again after a rollback states it anew.
    MemoryOrigin.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["end_user", "memory", "turn"], update_fields=["withdrawn"]
    )


def move_origins(*, plan: WritePlan, end_user_id: UUID, now: datetime) -> None:
    """Copy origins that the successor does not have yet; remove exactly the origins that were copied before."""
    origins = MemoryOrigin.objects.filter(end_user_id=end_user_id)
    for copy in plan.of(CopyOrigins):
        copies = list(origins.standing().filter(memory_id=copy.from_id))
        for origin in copies:
            origin.id, origin.memory_id, origin.created_at = new_id(), copy.memory_id, now
        MemoryOrigin.objects.bulk_create(copies, ignore_conflicts=True)
    for removal in plan.of(RemoveCopiedOrigins):
        turns = origins.filter(memory_id=removal.from_id).values("turn_id")
        origins.filter(memory_id=removal.memory_id, turn_id__in=turns, created_at__gte=removal.since).delete()


def withdraw_origins(*, plan: WritePlan, end_user_id: UUID) -> None:
    """Withdraw the origins that a rollback takes back; let those count again that its undo restores."""
    origins = MemoryOrigin.objects.filter(end_user_id=end_user_id)
    for taken in plan.of(WithdrawOrigins):
        origins.filter(memory_id=taken.memory_id, turn_id__in=taken.turn_ids).update(withdrawn=True)
    for given in plan.of(RestoreOrigins):
        origins.filter(memory_id=given.memory_id, turn_id__in=given.turn_ids).update(withdrawn=False)
