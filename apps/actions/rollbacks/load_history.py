"""Load what a rollback, or its undo, of one end user can touch."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

import msgspec
from django.db.models import Exists, OuterRef, Q

from apps.actions.rollbacks.history import KnownLink, KnownOrigin, MemoryHistory, RecordedChange, UserHistory
from apps.actions.rollbacks.load_entities import load_entities, load_holders, load_referring, load_taken_entities
from apps.actions.rollbacks.plan import Takings
from apps.memories.codec import statement_columns
from apps.memories.models import Memory, MemoryLink, MemoryOrigin, MemoryVersion
from apps.memories.reading.past_values import past_values
from apps.memories.reading.postgres_reader import PostgresMemoryReader
from apps.pipeline.core.agent_scope import AgentScope
from apps.pipeline.core.canonical import canonical_hash
from apps.pipeline.core.enums import LinkKind, LinkStatus, Reason, Role
from apps.pipeline.core.operations import ROLLED_BACK
from apps.pipeline.core.statement import Candidate
from apps.traces.models import Trace, Turn

_BY_PERSON = ("person:", "key:")


def load_history(*, end_user_id: UUID, traces: Collection[UUID]) -> UserHistory:
    """Read the memories, links and entities that traces wrote or changed, and what hangs on them."""
    own = Memory.objects.filter(end_user_id=end_user_id, trace_id__in=traces)
    added = list(own.values_list("id", flat=True))
    of_traces = {"end_user_id": end_user_id, "trace_id__in": traces}
    ids = {
        *added,
        *MemoryVersion.objects.filter(**of_traces).values_list("memory_id", flat=True),
        *MemoryOrigin.objects.standing().filter(**of_traces).values_list("memory_id", flat=True),
        *Memory.objects.filter(end_user_id=end_user_id, superseded_by_id__in=added).values_list("id", flat=True),
    }
    memories = _memories(end_user_id, ids, traces=traces)
    of_added = Q(from_memory_id__in=added) | Q(to_memory_id__in=added) | Q(trace_id__in=traces)
    mentioned = {entity for each in memories for entity in each.entity_ids}
    entities = load_entities(end_user_id=end_user_id, traces=traces, mentioned=mentioned)
    return UserHistory(
        memories=memories,
        entities=entities,
        links=_links(MemoryLink.objects.filter(of_added, end_user_id=end_user_id)),
        live=PostgresMemoryReader().live(end_user_id=end_user_id),
        repeats=_repeats(end_user_id, traces),
        referring=load_referring(end_user_id=end_user_id, entity_ids=[each.id for each in entities]),
        holders=load_holders(end_user_id=end_user_id, entities=entities),
    )


def load_taken(*, end_user_id: UUID, rollback_id: UUID, takings: Takings) -> UserHistory:
    """Read what a rollback took back, as it is now."""
    changed = MemoryVersion.objects.filter(end_user_id=end_user_id, rollback_id=rollback_id, operation=ROLLED_BACK)
    ids = {*changed.values_list("memory_id", flat=True), *takings.origins}
    closed = MemoryLink.objects.filter(end_user_id=end_user_id, status=LinkStatus.SETTLED, resolution=ROLLED_BACK)
    links = _links(closed.filter(from_memory_id__in=[from_id for from_id, _, _ in takings.links]))
    return UserHistory(
        memories=_memories(end_user_id, ids),
        entities=load_taken_entities(end_user_id=end_user_id, takings=takings.entities),
        links=tuple(each for each in links if (each.from_id, each.to_id, each.kind) in takings.links),
        live=PostgresMemoryReader().live(end_user_id=end_user_id),
    )


def _repeats(end_user_id: UUID, traces: Collection[UUID]) -> tuple[UUID, ...]:
    """Return the other traces with a turn that was rejected because it repeats a turn of these."""
    turns = Turn.objects.filter(end_user_id=end_user_id)
    said_before = turns.filter(
        trace_id__in=traces,
        session_id=OuterRef("session_id"),
        position__lt=OuterRef("position"),
        content__iexact=OuterRef("content"),
    )
    rejected = turns.filter(Exists(said_before), rejected_for=Reason.REPEATED_TURN).exclude(trace_id__in=traces)
    return tuple(rejected.order_by("trace_id").values_list("trace_id", flat=True).distinct())


def _memories(end_user_id: UUID, ids: Collection[UUID], traces: Collection[UUID] = ()) -> tuple[MemoryHistory, ...]:
    mine: dict[str, Any] = {"end_user_id": end_user_id, "memory_id__in": ids}
    changes: dict[UUID, list[RecordedChange]] = {}
    for row in MemoryVersion.objects.filter(**mine).order_by("version"):
        changes.setdefault(row.memory_id, []).append(_change(row))
    origins: dict[UUID, list[KnownOrigin]] = {}
    for each in MemoryOrigin.objects.standing().filter(**mine).order_by("said_at", "id"):
        origins.setdefault(each.memory_id, []).append(_origin(each))
    owners = {
        row["id"]: row
        for row in Memory.objects.filter(end_user_id=end_user_id, id__in=ids).values(
            "id", "trace_id", "superseded_by_id"
        )
    }
    return tuple(
        MemoryHistory(
            memory=memory,
            added_by=owners[memory.id]["trace_id"],
            superseded_by=owners[memory.id]["superseded_by_id"],
            changes=tuple(changes.get(memory.id, ())),
            origins=tuple(origins.get(memory.id, ())),
            restated=_restated(memory.id, owners[memory.id]["trace_id"], origins.get(memory.id, ()), traces),
        )
        for memory in PostgresMemoryReader().several(end_user_id=end_user_id, ids=list(ids))
    )


def _change(row: MemoryVersion) -> RecordedChange:
    return RecordedChange(
        version=row.version,
        operation=row.operation,
        replaced=past_values(row.values),
        trace_id=row.trace_id,
        rollback_id=row.rollback_id,
        is_by_person=row.actor.startswith(_BY_PERSON),
    )


def _origin(row: MemoryOrigin) -> KnownOrigin:
    return KnownOrigin(
        turn_id=row.turn_id,
        trace_id=row.trace_id,
        session_id=row.session_id,
        said_at=row.said_at,
        role=Role(row.role),
        evidence=row.evidence,
        api_key_id=row.api_key_id,
    )


def _restated(
    memory_id: UUID, added_by: UUID | None, origins: Sequence[KnownOrigin], traces: Collection[UUID]
) -> dict[str, Any]:
    """Return the columns of a memory of these traces as the first other trace said it, if its plan still tells."""
    others = [each for each in origins if each.trace_id not in traces]
    if added_by not in traces or not others:
        return {}
    trace = Trace.objects.filter(id=others[0].trace_id).only("plan", "topic", "metadata", "agent_scope").first()
    steps = [step for step in (trace.plan if trace else ()) if step.get("memory_id") == str(memory_id)]
    said = next((step["candidate"] for step in steps if "candidate" in step), None)
    if trace is None or said is None:
        return {}
    candidate = msgspec.convert(said, Candidate)
    columns = statement_columns(candidate if candidate.topic else candidate.evolve(topic=trace.topic))
    source = {"metadata": trace.metadata, **asdict(AgentScope(**trace.agent_scope))}
    return {**columns, **source, "canonical_hash": canonical_hash(candidate)}


def _links(rows: Any) -> tuple[KnownLink, ...]:
    return tuple(
        KnownLink(
            from_id=row.from_memory_id,
            to_id=row.to_memory_id,
            kind=LinkKind(row.kind),
            status=LinkStatus(row.status),
            trace_id=row.trace_id,
        )
        for row in rows.order_by("id")
    )
