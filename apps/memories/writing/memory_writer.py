"""How memories come about and change."""

from datetime import datetime
from uuid import UUID

from apps.memories.codec import write_columns
from apps.memories.models import Memory
from apps.memories.writing import versions
from apps.memories.writing.rows import memory_row
from apps.memories.writing.write_context import WriteContext
from apps.pipeline.core.memory_conversion import merged_fields
from apps.pipeline.core.operations import AddMemory, FlagForReview, MergeInto, ReviseMemory, SupersedeMemory
from apps.pipeline.core.plan import WritePlan


def add_memories(*, plan: WritePlan, context: WriteContext, now: datetime) -> None:
    """Write new memories, each with the reasons for which it waits for a person."""
    reasons = _review_reasons(plan)
    Memory.objects.bulk_create(
        memory_row(operation=operation, context=context, review_reasons=reasons.get(operation.memory_id, []), now=now)
        for operation in plan.of(AddMemory)
    )


def _review_reasons(plan: WritePlan) -> dict[UUID, list[str]]:
    reasons: dict[UUID, list[str]] = {}
    for operation in plan.of(FlagForReview):
        reasons.setdefault(operation.memory_id, []).append(operation.reason)
    return reasons


def change_memories(*, plan: WritePlan, context: WriteContext, now: datetime) -> None:
    """Merge into, close and revise known memories. Raises StalePlan."""
    changes = [
        *(_merge_change(operation) for operation in plan.of(MergeInto)),
        *(_supersede_change(operation, now=now) for operation in plan.of(SupersedeMemory)),
        *(_revise_change(operation) for operation in plan.of(ReviseMemory)),
    ]
    versions.change(
        changes=changes, end_user_id=context.end_user_id, actor=context.actor, trace_id=context.trace_id, now=now
    )


def _merge_change(operation: MergeInto) -> versions.VersionedChange:
    return versions.VersionedChange(
        memory_id=operation.memory_id,
        expected_version=operation.expected_version,
        operation="merged",
        values={
            **write_columns(merged_fields(operation)),
            "recurrence": operation.recurrence,
            **({"review_reasons": []} if operation.promotes else {}),
        },
    )


def _supersede_change(operation: SupersedeMemory, *, now: datetime) -> versions.VersionedChange:
    return versions.VersionedChange(
        memory_id=operation.memory_id,
        expected_version=operation.expected_version,
        operation="superseded",
        values={**write_columns(operation.changes(now=now)), "superseded_by_id": operation.superseded_by},
    )


def _revise_change(operation: ReviseMemory) -> versions.VersionedChange:
    return versions.VersionedChange(
        memory_id=operation.memory_id,
        expected_version=operation.expected_version,
        operation=operation.verb,
        values=dict(operation.changes),
    )
