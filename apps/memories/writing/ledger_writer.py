"""Append the ledger entries of a plan, and the events of projects that keep them."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.db.models.functions import Now

from apps.events.models import EventLog, ProjectEvent
from apps.events.of_plan import events_of_plan
from apps.memories.models import LedgerEntry, Memory
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
    """Add one entry per operation of the plan that changes something, and the events that it causes."""
    entries = [
        LedgerEntry(
            project_id=context.project_id,
            end_user_id=context.end_user_id,
            actor=context.actor,
            verb=verb,
            object_kind=kind,
            object_id=object_id,
            trace_id=context.trace_id,
            details=details,
        )
        for verb, kind, object_id, details in _entries(plan)
    ]
    if not entries:
        return
    LedgerEntry.objects.bulk_create(entries)
    if EventLog.objects.filter(project_id=context.project_id, is_on=True).exists():
        _record_events(plan, context)


def _record_events(plan: WritePlan, context: WriteContext) -> None:
    """Record the events of a plan; the memories have their new values already."""
    events = list(events_of_plan(plan))
    memories = Memory.objects.for_end_user(context.end_user_id).only("id", "type", "status", "version", "private_to")
    concerned = memories.in_bulk({each.memory_id for each in events})
    ProjectEvent.objects.bulk_create(
        ProjectEvent(
            project_id=context.project_id,
            end_user_id=context.end_user_id,
            type=each.type,
            trace_id=context.trace_id,
            memory_id=each.memory_id,
            details={
                "verb": each.verb,
                "other": each.other_id and str(each.other_id),
                "memory_type": memory.type,
                "status": memory.status,
                "version": memory.version,
                "private_to": memory.private_to,
            },
            created_at=Now(),
        )
        for each in events
        if (memory := concerned.get(each.memory_id)) is not None
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
