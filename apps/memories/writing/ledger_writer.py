"""Append the ledger entries of a plan."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from apps.memories.models import LedgerEntry
from apps.memories.writing.write_context import WriteContext
from apps.pipeline.core.operations import (
    AddEntity,
    AddMemory,
    LinkMemories,
    MergeInto,
    ReviseEntity,
    ReviseMemory,
    SetLinkStatus,
    SupersedeMemory,
)
from apps.pipeline.core.plan import WritePlan

Entry = tuple[str, str, UUID, dict[str, Any]]  # verb, object kind, object, details


def write_ledger(*, plan: WritePlan, context: WriteContext) -> None:
    """Add one entry per operation of the plan that changes something."""
    LedgerEntry.objects.bulk_create(
        LedgerEntry(
            end_user_id=context.end_user_id,
            project_id=context.project_id,
            actor=context.actor,
            verb=verb,
            object_kind=kind,
            object_id=object_id,
            trace_id=context.trace_id,
            details=details,
        )
        for verb, kind, object_id, details in _entries(plan)
    )


def _entries(plan: WritePlan) -> Iterator[Entry]:
    """Yield the changes of the plan, without any content."""
    yield from _of_entities(plan)
    for memory in plan.of(AddMemory):
        yield "added", "memory", memory.memory_id, {"status": memory.status.value}
    for merge in plan.of(MergeInto):
        yield "merged", "memory", merge.memory_id, {}
    for closed in plan.of(SupersedeMemory):
        yield "superseded", "memory", closed.memory_id, {"by": str(closed.superseded_by)}
    for revised in plan.of(ReviseMemory):
        note = {"note": revised.note} if revised.note else {}
        yield revised.verb, "memory", revised.memory_id, {"fields": sorted(revised.changes), **note}
    for link in plan.of(LinkMemories):
        yield "linked", "memory", link.from_id, {"to": str(link.to_id), "kind": link.kind.value}
    for mark in plan.of(SetLinkStatus):
        yield mark.status.value, "link", mark.from_id, {"to": str(mark.to_id), "resolution": mark.resolution}


def _of_entities(plan: WritePlan) -> Iterator[Entry]:
    for added in plan.of(AddEntity):
        yield "added", "entity", added.entity.id, {}
    for revised in plan.of(ReviseEntity):
        if revised.withdrawn is not None:
            yield "withdrawn" if revised.withdrawn else "restored", "entity", revised.entity_id, {}
