"""Write new memories, and change known ones at their expected versions; the replaced values are recorded."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import CharField, F, Value
from django.db.models.functions import Cast, Replace

from apps.memories.codec import statement_columns, write_columns
from apps.memories.models import Memory, MemoryVersion
from apps.memories.writing.write_context import WriteContext
from apps.pipeline.core.enums import LIVE_STATUSES, Role
from apps.pipeline.core.memory_conversion import merged_fields
from apps.pipeline.core.operations import AddMemory, FlagForReview, MergeInto, ReviseMemory, SupersedeMemory
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import StalePlan


def add_memories(*, plan: WritePlan, context: WriteContext, now: datetime) -> None:
    """Insert new memories, each with its reasons for review."""
    reasons: dict[UUID, list[str]] = {}
    for flag in plan.of(FlagForReview):
        reasons.setdefault(flag.memory_id, []).append(flag.reason)
    Memory.objects.bulk_create(
        _memory_row(operation, context, reasons.get(operation.memory_id, []), now) for operation in plan.of(AddMemory)
    )


def _memory_row(operation: AddMemory, context: WriteContext, review_reasons: Sequence[str], now: datetime) -> Memory:
    """Build the unsaved row of a new memory; its topic is that of the request unless it has its own."""
    candidate = operation.candidate
    return Memory(
        id=operation.memory_id,
        end_user_id=context.end_user_id,
        project_id=context.project_id,
        status=operation.status,
        review_reasons=list(review_reasons),
        metadata=dict(operation.metadata or context.metadata or {}),
        private_to=operation.private_to,
        **asdict(operation.agent_scope),
        created_at=now,
        updated_at=now,
        canonical_hash=operation.canonical_hash,
        said_at=operation.said_at,
        valid_from=operation.valid_from,
        valid_until=operation.valid_until,
        superseded_by_id=operation.superseded_by,
        expires_at=operation.expires_at,
        confidence=operation.confidence.value,
        confidence_parts=operation.confidence.parts(),
        trace_id=context.trace_id,
        candidate_index=candidate.index if context.trace_id else None,
        session_id=context.session_id,
        api_key_id=context.api_key_id,
        role=operation.origins[-1].turn.role if operation.origins else Role.USER,
        context=operation.context,
        **statement_columns(candidate if candidate.topic else candidate.evolve(topic=context.topic)),
    )


@dataclass(frozen=True, slots=True)
class _VersionedChange:
    """New values for named columns of one memory."""

    memory_id: UUID
    expected_version: int
    operation: str
    values: Mapping[str, Any]


def change_memories(*, plan: WritePlan, context: WriteContext, now: datetime) -> None:
    """Merge into, close and revise known memories. Raises StalePlan."""
    changes = []
    for merge in plan.of(MergeInto):
        values = {**write_columns(merged_fields(merge)), "recurrence": merge.recurrence}
        if merge.promotes:
            values["review_reasons"] = []
        changes.append(_VersionedChange(merge.memory_id, merge.expected_version, "merged", values))
    for closed in plan.of(SupersedeMemory):
        values = {**write_columns(closed.changes(now=now)), "superseded_by_id": closed.superseded_by}
        changes.append(_VersionedChange(closed.memory_id, closed.expected_version, "superseded", values))
    for revised in plan.of(ReviseMemory):
        values = dict(revised.changes)
        changes.append(_VersionedChange(revised.memory_id, revised.expected_version, revised.verb, values))
    _apply_changes(changes=changes, context=context, now=now)


def _apply_changes(*, changes: Sequence[_VersionedChange], context: WriteContext, now: datetime) -> None:
    """Apply changes in order, each with a version row of the replaced values.

    If a plan changes a memory twice, both changes expect the same version, and the second one builds on the first.
    Raises StalePlan if a memory is missing or has another version than expected.
    """
    if not changes:
        return
    wanted = {each.memory_id for each in changes}
    rows = {
        row.id: row
        for row in Memory.objects.filter(end_user_id=context.end_user_id, id__in=wanted)
        .defer("terms", "context_terms")
        .select_for_update(no_key=True)  # vectors and origins may go on referring to them
    }
    found = {memory_id: row.version for memory_id, row in rows.items()}
    opened = any(_opens(rows[each.memory_id], each) for each in changes if each.memory_id in rows)
    past: list[MemoryVersion] = []
    for each in changes:
        if found.get(each.memory_id) != each.expected_version:
            raise StalePlan(f"memory {each.memory_id} is no longer at version {each.expected_version}")
        past.append(_change_row(rows[each.memory_id], each, context, now))
    MemoryVersion.objects.bulk_create(past)
    if not opened and _are_alike(changes):
        same = Memory.objects.filter(end_user_id=context.end_user_id, id__in=wanted)
        same.update(**changes[0].values, version=F("version") + 1, updated_at=now)
        return
    columns = {name for each in changes for name in each.values} | {"version", "updated_at"}
    if len(rows) > 1 and (opened or "canonical_hash" in columns):
        # Memories may swap hashes, or one opens as another with its hash is closed, and the database checks uniqueness
        # row by row: set unique placeholders first.
        columns.add("canonical_hash")
        placeholder = Replace(Cast("id", CharField()), Value("-"))
        Memory.objects.filter(end_user_id=context.end_user_id, id__in=wanted).update(canonical_hash=placeholder)
    Memory.objects.filter(end_user_id=context.end_user_id).bulk_update(rows.values(), sorted(columns))


def _are_alike(changes: Sequence[_VersionedChange]) -> bool:
    """Return True if memories get the same values, each once: one statement for all costs far less than a case each."""
    first = changes[0].values
    distinct = {each.memory_id for each in changes}
    return (
        len(distinct) == len(changes)
        and "canonical_hash" not in first
        and all(each.values == first for each in changes)
    )


def _opens(row: Memory, each: _VersionedChange) -> bool:
    return row.status not in LIVE_STATUSES and each.values.get("status") in LIVE_STATUSES


def _change_row(row: Memory, each: _VersionedChange, context: WriteContext, now: datetime) -> MemoryVersion:
    """Change a row, not saved, and return the version with the replaced values."""
    replaced = {name: getattr(row, name) for name in each.values}
    past = MemoryVersion(
        end_user_id=row.end_user_id,
        memory_id=row.id,
        version=row.version,
        values=replaced,
        operation=each.operation,
        actor=context.actor,
        trace_id=context.trace_id,
        rollback_id=context.rollback_id,
        known_from=row.updated_at,
        known_until=now,
    )
    for name, value in each.values.items():
        setattr(row, name, value)
    row.version += 1
    row.updated_at = now
    return past
