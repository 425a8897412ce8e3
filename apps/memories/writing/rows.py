"""Write the operations of a plan: memories, their origins, links, and entries of the ledger."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import CharField, F, Value
from django.db.models.functions import Cast, Now, Replace

from apps.events.models import EventLog, ProjectEvent
from apps.events.record import events_of_plan
from apps.memories.codec import statement_columns, write_columns
from apps.memories.models import LedgerEntry, Memory, MemoryLink, MemoryOrigin, MemoryVersion
from apps.pipeline.core.enums import LIVE_STATUSES, LinkStatus, Role
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.memory_conversion import merged_fields
from apps.pipeline.core.operations import (
    ROLLED_BACK,
    AddEntity,
    AddMemory,
    CopyOrigins,
    FlagForReview,
    LinkMemories,
    MarkOrigins,
    MergeInto,
    RemoveCopiedOrigins,
    ReviseEntity,
    ReviseMemory,
    SetLinkStatus,
    SupersedeMemory,
)
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import StalePlan
from apps.traces.models import Turn


@dataclass(frozen=True, slots=True)
class WriteContext:
    """The actor and the request for which a plan is applied."""

    project_id: UUID
    end_user_id: UUID
    actor: str  # such as "trace:trc_…", "key:key_…", "person:7"
    trace_id: UUID | None = None
    session_id: UUID | None = None
    api_key_id: UUID | None = None
    topic: str = ""
    metadata: Mapping[str, Any] | None = None
    rollback_id: UUID | None = None  # of a rollback and of its undo
    quotes_other_traces: bool = False  # the turns of the plan's origins may be deleted until they are locked


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


def mark_origins(*, plan: WritePlan, end_user_id: UUID) -> None:
    """Withdraw the origins that a rollback takes back; let those count again that its undo restores."""
    origins = MemoryOrigin.objects.filter(end_user_id=end_user_id)
    for mark in plan.of(MarkOrigins):
        origins.filter(memory_id=mark.memory_id, turn_id__in=mark.turn_ids).update(withdrawn=mark.withdrawn)


def link_memories(*, plan: WritePlan, context: WriteContext) -> None:
    """Link memories for review; a pair that is linked already, in either direction, is not linked again.

    Links that a rollback has closed and that a trace finds anew are opened again.
    """
    wanted = plan.of(LinkMemories)
    if not wanted:
        return
    links = MemoryLink.objects.filter(end_user_id=context.end_user_id)
    for each in wanted:
        pair = (each.from_id, each.to_id)
        links.filter(
            kind=each.kind,
            from_memory__in=pair,
            to_memory__in=pair,
            status=LinkStatus.SETTLED,
            resolution=ROLLED_BACK,
        ).update(status=LinkStatus.OPEN, resolution="", settled_at=None, trace_id=context.trace_id)
    reverse = links.filter(from_memory__in={each.to_id for each in wanted})
    known = set(reverse.values_list("to_memory_id", "from_memory_id", "kind"))
    MemoryLink.objects.bulk_create(
        (
            MemoryLink(
                end_user_id=context.end_user_id,
                project_id=context.project_id,
                from_memory_id=each.from_id,
                to_memory_id=each.to_id,
                kind=each.kind,
                trace_id=context.trace_id,
            )
            for each in wanted
            if (each.from_id, each.to_id, each.kind) not in known
        ),
        ignore_conflicts=True,
    )


def mark_links(*, plan: WritePlan, end_user_id: UUID, now: datetime) -> None:
    """Set the status of links. Raises StalePlan if a link is gone or has that status already."""
    for mark in plan.of(SetLinkStatus):
        links = MemoryLink.objects.filter(
            end_user_id=end_user_id, from_memory_id=mark.from_id, to_memory_id=mark.to_id, kind=mark.kind
        )
        settled_at = now if mark.status is LinkStatus.SETTLED else None
        if not links.exclude(status=mark.status).update(
            status=mark.status, resolution=mark.resolution, settled_at=settled_at
        ):
            raise StalePlan(f"the link of {mark.from_id} and {mark.to_id} is gone or is {mark.status} already")


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
    if not EventLog.objects.filter(project_id=context.project_id, is_on=True).exists():
        return
    events = list(events_of_plan(plan))
    # The memories have their new values already.
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


_Entry = tuple[str, str, UUID, dict[str, Any]]  # verb, kind, object, details


def _entries(plan: WritePlan) -> Iterator[_Entry]:
    """Yield the changes of a plan, without any content."""
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


def _of_entities(plan: WritePlan) -> Iterator[_Entry]:
    for added in plan.of(AddEntity):
        yield "added", "entity", added.entity.id, {}
    for entity in plan.of(ReviseEntity):
        if entity.withdrawn is not None:
            yield "withdrawn" if entity.withdrawn else "restored", "entity", entity.entity_id, {}


def add_memories(*, plan: WritePlan, context: WriteContext, now: datetime) -> None:
    """Insert new memories, each with its reasons for review, and the request's topic unless it has its own."""
    reasons: dict[UUID, list[str]] = {}
    for flag in plan.of(FlagForReview):
        reasons.setdefault(flag.memory_id, []).append(flag.reason)
    rows: list[Memory] = []
    for operation in plan.of(AddMemory):
        candidate = operation.candidate
        if not candidate.topic:
            candidate = candidate.evolve(topic=context.topic)
        row = Memory(
            id=operation.memory_id,
            end_user_id=context.end_user_id,
            project_id=context.project_id,
            status=operation.status,
            review_reasons=reasons.get(operation.memory_id, []),
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
            **statement_columns(candidate),
        )
        rows.append(row)
    Memory.objects.bulk_create(rows)


def change_memories(*, plan: WritePlan, context: WriteContext, now: datetime) -> None:
    """Merge into, close and revise known memories, in this order, each with a version row of the replaced values.

    If a plan changes a memory twice, both changes expect the same version, and the second one builds on the first.
    Raises StalePlan if a memory is missing or has another version than expected.
    """
    changes: list[ReviseMemory] = []
    for merge in plan.of(MergeInto):
        promoted: dict[str, Any] = {"review_reasons": []} if merge.promotes else {}
        values = {**write_columns(merged_fields(merge)), "recurrence": merge.recurrence, **promoted}
        changes.append(ReviseMemory(merge.memory_id, merge.expected_version, verb="merged", changes=values))
    for closed in plan.of(SupersedeMemory):
        values = {**write_columns(closed.changes(now=now)), "superseded_by_id": closed.superseded_by}
        changes.append(ReviseMemory(closed.memory_id, closed.expected_version, verb="superseded", changes=values))
    changes += plan.of(ReviseMemory)
    if not changes:
        return
    memories = Memory.objects.filter(end_user_id=context.end_user_id)
    wanted = memories.filter(id__in={each.memory_id for each in changes})
    # Vectors and origins may go on referring to the locked rows.
    rows = {row.id: row for row in wanted.defer("terms", "context_terms").select_for_update(no_key=True)}
    found = {memory_id: row.version for memory_id, row in rows.items()}
    for each in changes:
        if found.get(each.memory_id) != each.expected_version:
            raise StalePlan(f"memory {each.memory_id} is no longer at version {each.expected_version}")
    opens = any(
        rows[each.memory_id].status not in LIVE_STATUSES and each.changes.get("status") in LIVE_STATUSES
        for each in changes
    )
    MemoryVersion.objects.bulk_create([_change_row(rows[each.memory_id], each, context, now) for each in changes])
    columns = {name for each in changes for name in each.changes}
    first = changes[0].changes
    are_alike = len(changes) == len(rows) and all(each.changes == first for each in changes)
    if are_alike and not opens and "canonical_hash" not in columns:  # one statement costs far less than a case each
        wanted.update(**first, version=F("version") + 1, updated_at=now)
        return
    if len(rows) > 1 and (opens or "canonical_hash" in columns):
        # Memories may swap hashes, or one opens as another with its hash is closed, and the database checks uniqueness
        # row by row: set unique placeholders first.
        columns.add("canonical_hash")
        wanted.update(canonical_hash=Replace(Cast("id", CharField()), Value("-")))
    memories.bulk_update(rows.values(), sorted(columns | {"version", "updated_at"}))


def _change_row(row: Memory, each: ReviseMemory, context: WriteContext, now: datetime) -> MemoryVersion:
    """Change a row, not saved, and return the version with the replaced values."""
    past = MemoryVersion(
        end_user_id=row.end_user_id,
        memory_id=row.id,
        version=row.version,
        values={name: getattr(row, name) for name in each.changes},
        operation=each.verb,
        actor=context.actor,
        trace_id=context.trace_id,
        rollback_id=context.rollback_id,
        known_from=row.updated_at,
        known_until=now,
    )
    for name, value in each.changes.items():
        setattr(row, name, value)
    row.version += 1
    row.updated_at = now
    return past
