"""Write new memories and changes of known ones."""

from datetime import datetime
from uuid import UUID

from apps.memories.codec import write_columns
from apps.memories.models import Memory
from apps.memories.writing.insert_rows import insert_rows
from apps.memories.writing.rows import memory_row
from apps.memories.writing.versions import VersionedChange, apply_changes
from apps.memories.writing.write_context import WriteContext
from apps.pipeline.core.memory_conversion import merged_fields
from apps.pipeline.core.operations import AddMemory, FlagForReview, MergeInto, ReviseMemory, SupersedeMemory
from apps.pipeline.core.plan import WritePlan


def add_memories(*, plan: WritePlan, context: WriteContext, now: datetime) -> None:
    """Insert new memories, each with its reasons for review."""
    reasons: dict[UUID, list[str]] = {}
    for flag in plan.of(FlagForReview):
        reasons.setdefault(flag.memory_id, []).append(flag.reason)
    rows = (
        memory_row(operation=operation, context=context, review_reasons=reasons.get(operation.memory_id, []), now=now)
        for operation in plan.of(AddMemory)
    )
    insert_rows(Memory, rows)


def change_memories(*, plan: WritePlan, context: WriteContext, now: datetime) -> None:
    """Merge into, close and revise known memories. Raises StalePlan."""
    changes = []
    for merge in plan.of(MergeInto):
        values = {**write_columns(merged_fields(merge)), "recurrence": merge.recurrence}
        if merge.promotes:
            values["review_reasons"] = []
        changes.append(VersionedChange(merge.memory_id, merge.expected_version, "merged", values))
    for closed in plan.of(SupersedeMemory):
        values = {**write_columns(closed.changes(now=now)), "superseded_by_id": closed.superseded_by}
        changes.append(VersionedChange(closed.memory_id, closed.expected_version, "superseded", values))
    for revised in plan.of(ReviseMemory):
        values = dict(revised.changes)
        changes.append(VersionedChange(revised.memory_id, revised.expected_version, revised.verb, values))
    apply_changes(changes=changes, context=context, now=now)
