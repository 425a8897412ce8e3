"""Load what a rollback of one end user decides about."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

import msgspec
from django.db.models import Exists, OuterRef, Q

from apps.memories.codec import statement_columns
from apps.memories.models import Entity, EntityAlias, EntityChange, Memory, MemoryLink, MemoryOrigin, MemoryVersion
from apps.memories.reading.postgres_reader import PostgresMemoryReader
from apps.pipeline.core.agent_scope import AgentScope
from apps.pipeline.core.canonical import canonical_hash
from apps.pipeline.core.enums import EntityChangeKind, LinkStatus, Reason, Status
from apps.pipeline.core.identifiers import Prefix, parse, show
from apps.pipeline.core.operations import ROLLED_BACK
from apps.pipeline.core.statement import Candidate
from apps.traces.models import Trace, Turn
from apps.tuning.rollbacks.planning import Takings
from apps.tuning.rollbacks.reverting import EntityHistory, MemoryHistory, UserHistory


def load_history(*, end_user_id: UUID, traces: Collection[UUID]) -> UserHistory:
    """Read the memories, links and entities that traces wrote or changed, and what hangs on them."""
    added = list(Memory.objects.filter(end_user_id=end_user_id, trace_id__in=traces).values_list("id", flat=True))
    of_traces = {"end_user_id": end_user_id, "trace_id__in": traces}
    ids = {
        *added,
        *MemoryVersion.objects.filter(**of_traces).values_list("memory_id", flat=True),
        *MemoryOrigin.objects.standing().filter(**of_traces).values_list("memory_id", flat=True),
        *Memory.objects.filter(end_user_id=end_user_id, superseded_by_id__in=added).values_list("id", flat=True),
    }
    memories = _memories(end_user_id, ids, traces=traces)
    of_added = Q(from_memory_id__in=added) | Q(to_memory_id__in=added) | Q(trace_id__in=traces)
    entities = _named_entities(end_user_id, traces, {entity for each in memories for entity in each.entity_ids})
    return UserHistory(
        memories=memories,
        entities=entities,
        links=list(MemoryLink.objects.filter(of_added, end_user_id=end_user_id).order_by("id")),
        live=PostgresMemoryReader().live(end_user_id=end_user_id),
        repeats=_repeats(end_user_id, traces),
        referring=_referring(end_user_id, [each.entity.id for each in entities]),
        holders=_holders(end_user_id, entities),
    )


def load_taken(*, end_user_id: UUID, rollback_id: UUID, takings: Takings) -> UserHistory:
    """Read what a rollback took back, as it is now."""
    changed = MemoryVersion.objects.filter(end_user_id=end_user_id, rollback_id=rollback_id, operation=ROLLED_BACK)
    ids = {*changed.values_list("memory_id", flat=True), *takings.origins}
    closed = MemoryLink.objects.filter(end_user_id=end_user_id, status=LinkStatus.SETTLED, resolution=ROLLED_BACK)
    links = closed.filter(from_memory_id__in=[from_id for from_id, _, _ in takings.links]).order_by("id")
    records = list(EntityChange.objects.filter(end_user_id=end_user_id, withdrawn=True, id__in=takings.records))
    touched = {*takings.entities, *takings.mentions, *(each.entity_id for each in records)}
    return UserHistory(
        memories=_memories(end_user_id, ids),
        entities=_entities(end_user_id, touched, records),
        links=[each for each in links if (each.from_memory_id, each.to_memory_id, each.kind) in takings.links],
        live=PostgresMemoryReader().live(end_user_id=end_user_id),
    )


def _named_entities(end_user_id: UUID, traces: Collection[UUID], mentioned: Collection[UUID]) -> list[EntityHistory]:
    """Read the entities that traces brought or named, those mentioned, and who has a description that traces took."""
    records = EntityChange.objects.filter(end_user_id=end_user_id, withdrawn=False)
    of_traces = records.filter(trace_id__in=traces)
    taken = of_traces.filter(kind=EntityChangeKind.TAKEN).values("folded")
    named = {
        *mentioned,
        *of_traces.values_list("entity_id", flat=True),
        *Entity.objects.filter(end_user_id=end_user_id, added_by__in=traces).values_list("id", flat=True),
        *EntityAlias.objects.filter(end_user_id=end_user_id, folded__in=taken).values_list("entity_id", flat=True),
    }
    return _entities(end_user_id, named, list(records.filter(entity_id__in=named)))


def _entities(end_user_id: UUID, ids: Collection[UUID], records: Sequence[EntityChange]) -> list[EntityHistory]:
    merged = Exists(Entity.objects.filter(end_user_id=end_user_id, merged_into_id=OuterRef("id")))
    rows = Entity.objects.filter(end_user_id=end_user_id, id__in=ids).annotate(stands_for_others=merged)
    return [
        EntityHistory(
            row,
            stays=row.is_user or row.merged_into_id is not None or row.stands_for_others,
            records=[each for each in records if each.entity_id == row.id],
        )
        for row in rows.order_by("id")
    ]


def _referring(end_user_id: UUID, entity_ids: Sequence[UUID]) -> dict[UUID, set[UUID]]:
    """Return the memories that refer to each entity as subject or object, except for retracted ones."""
    shown = {show(Prefix.ENTITY, each) for each in entity_ids}
    rows = Memory.objects.filter(end_user_id=end_user_id).exclude(status=Status.RETRACTED)
    found: dict[UUID, set[UUID]] = {}
    about = rows.filter(Q(subject_id__in=entity_ids) | Q(object__entity__in=sorted(shown)))
    for memory_id, subject_id, value in about.values_list("id", "subject_id", "object__entity"):
        for entity_id in (subject_id, parse(Prefix.ENTITY, value) if value else None):
            if entity_id is not None:
                found.setdefault(entity_id, set()).add(memory_id)
    return found


def _holders(end_user_id: UUID, entities: Sequence[EntityHistory]) -> dict[str, set[UUID]]:
    """Return which entities have each description that was taken from one of these."""
    taken = {each.folded for entity in entities for each in entity.records if each.kind == EntityChangeKind.TAKEN}
    found: dict[str, set[UUID]] = {}
    aliases = EntityAlias.objects.filter(end_user_id=end_user_id, folded__in=taken, withdrawn=False)
    for folded, entity_id in aliases.values_list("folded", "entity_id"):
        found.setdefault(folded, set()).add(entity_id)
    return found


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


def _memories(end_user_id: UUID, ids: Collection[UUID], traces: Collection[UUID] = ()) -> list[MemoryHistory]:
    mine = {"end_user_id": end_user_id, "memory_id__in": ids}
    changes: dict[UUID, list[MemoryVersion]] = {}
    for change in MemoryVersion.objects.filter(**mine).order_by("version"):
        changes.setdefault(change.memory_id, []).append(change)
    origins: dict[UUID, list[MemoryOrigin]] = {}
    for origin in MemoryOrigin.objects.standing().filter(**mine).order_by("said_at", "id"):
        origins.setdefault(origin.memory_id, []).append(origin)
    rows = Memory.objects.filter(end_user_id=end_user_id, id__in=ids).only("trace_id", "superseded_by_id").in_bulk()
    return [
        MemoryHistory(
            memory=memory,
            added_by=rows[memory.id].trace_id,
            superseded_by=rows[memory.id].superseded_by_id,
            changes=changes.get(memory.id, ()),
            origins=origins.get(memory.id, ()),
            restated=_restated(rows[memory.id], origins.get(memory.id, ()), traces),
        )
        for memory in PostgresMemoryReader().several(end_user_id=end_user_id, ids=list(ids))
    ]


def _restated(memory: Memory, origins: Sequence[MemoryOrigin], traces: Collection[UUID]) -> dict[str, Any]:
    """Return the columns of a memory of these traces as the first other trace said it, if its plan still tells."""
    others = [each for each in origins if each.trace_id not in traces]
    if memory.trace_id not in traces or not others:
        return {}
    trace = Trace.objects.filter(id=others[0].trace_id).only("plan", "topic", "metadata", "agent_scope").first()
    steps = [step for step in (trace.plan if trace else ()) if step.get("memory_id") == str(memory.id)]
    said = next((step["candidate"] for step in steps if "candidate" in step), None)
    if trace is None or said is None:
        return {}
    candidate = msgspec.convert(said, Candidate)
    columns = statement_columns(candidate if candidate.topic else candidate.evolve(topic=trace.topic))
    source = {"metadata": trace.metadata, **asdict(AgentScope(**trace.agent_scope))}
    return {**columns, **source, "canonical_hash": canonical_hash(candidate)}
