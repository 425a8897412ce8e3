"""Append the ledger entries of a plan, and the events of projects that keep them."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from apps.events.of_plan import events_of_plan
from apps.events.recording import RECORD_MEMORY_EVENTS, event_rows
from apps.memories.writing.write_context import WriteContext
from apps.pipeline.core.identifiers import new_id
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
from apps.tenants.constant_statements import run_constant

# With "returning", Citus inserts what it has selected by an INSERT: without, by COPY, which row-level security refuses.
_ADD_ENTRIES = """
insert into memories_ledgerentry
    (id, project_id, end_user_id, actor, verb, object_kind, object_id, trace_id, details, created_at)
select id, %(project)s, %(end_user)s, %(actor)s, verb, kind, object, %(trace)s, details, clock_timestamp()
from jsonb_to_recordset(%(entries)s) as entry(place int, id uuid, verb text, kind text, object uuid, details jsonb)
order by place returning 1
"""

Entry = tuple[str, str, UUID, dict[str, Any]]  # verb, object kind, object, details


def write_ledger(*, plan: WritePlan, context: WriteContext) -> None:
    """Add one entry per operation of the plan that changes something, and the events that it causes."""
    entries = [
        {"place": place, "id": str(new_id()), "verb": verb, "kind": kind, "object": str(object_id), "details": details}
        for place, (verb, kind, object_id, details) in enumerate(_entries(plan))
    ]
    if not entries:
        return
    values: dict[str, Any] = {
        "project": context.project_id,
        "end_user": context.end_user_id,
        "actor": context.actor,
        "trace": context.trace_id,
        "entries": Jsonb(entries),
        "events": Jsonb(event_rows(events_of_plan(plan))),
    }
    for statement in (_ADD_ENTRIES, RECORD_MEMORY_EVENTS):
        run_constant(statement, values)


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
