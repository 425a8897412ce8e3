"""Load what a rollback of one end user decides about."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

import msgspec
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now
from django.utils import timezone

from apps.actions.get_or_create import hold_end_user
from apps.actions.rollbacks.planning import EntityTakings, Rules, Takings
from apps.actions.rollbacks.reverting import (
    EntityHistory,
    EntityRecord,
    Kept,
    KnownLink,
    KnownOrigin,
    MemoryHistory,
    RecordedChange,
    UserHistory,
)
from apps.memories.codec import read_columns, statement_columns
from apps.memories.models import (
    Entity,
    EntityAlias,
    EntityChange,
    Memory,
    MemoryLink,
    MemoryOrigin,
    MemoryVersion,
    Rollback,
    RollbackItem,
)
from apps.memories.reading.past import past_values
from apps.memories.reading.postgres_reader import PostgresMemoryReader
from apps.memories.writing.plan_writer import apply_plan
from apps.memories.writing.rows import WriteContext
from apps.outbox.leases import interrupt
from apps.pipeline.core.agent_scope import AgentScope
from apps.pipeline.core.canonical import canonical_hash
from apps.pipeline.core.enums import EntityChangeKind, LinkKind, LinkStatus, Reason, Role, RollbackState, Status
from apps.pipeline.core.identifiers import Prefix, parse, show
from apps.pipeline.core.operations import ROLLED_BACK
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.statement import Candidate
from apps.traces.models import Session, Trace, Turn
from apps.traces.policies import active_policy


def load_entities(
    *, end_user_id: UUID, traces: Collection[UUID], mentioned: Collection[UUID]
) -> tuple[EntityHistory, ...]:
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


def load_taken_entities(*, end_user_id: UUID, takings: EntityTakings) -> tuple[EntityHistory, ...]:
    """Read the entities that a rollback touched, with the records that it withdrew."""
    records = list(EntityChange.objects.filter(end_user_id=end_user_id, withdrawn=True, id__in=takings.records))
    ids = {*takings.withdrawn, *(takings.mentions or {}), *(each.entity_id for each in records)}
    return _entities(end_user_id, ids, records)


def load_referring(*, end_user_id: UUID, entity_ids: Sequence[UUID]) -> dict[UUID, frozenset[UUID]]:
    """Return the memories that refer to each entity as subject or object, except for retracted ones."""
    shown = {show(Prefix.ENTITY, each) for each in entity_ids}
    rows = Memory.objects.filter(end_user_id=end_user_id).exclude(status=Status.RETRACTED)
    found: dict[UUID, set[UUID]] = {}
    about = rows.filter(Q(subject_id__in=entity_ids) | Q(object__entity__in=sorted(shown)))
    for memory_id, subject_id, value in about.values_list("id", "subject_id", "object__entity"):
        for entity_id in (subject_id, parse(Prefix.ENTITY, value) if value else None):
            if entity_id is not None:
                found.setdefault(entity_id, set()).add(memory_id)
    return {entity_id: frozenset(memories) for entity_id, memories in found.items()}


def load_holders(*, end_user_id: UUID, entities: Sequence[EntityHistory]) -> dict[str, frozenset[UUID]]:
    """Return which entities have each description that was taken from one of these."""
    taken = {each.folded for entity in entities for each in entity.records if each.kind is EntityChangeKind.TAKEN}
    found: dict[str, set[UUID]] = {}
    aliases = EntityAlias.objects.filter(end_user_id=end_user_id, folded__in=taken, withdrawn=False)
    for folded, entity_id in aliases.values_list("folded", "entity_id"):
        found.setdefault(folded, set()).add(entity_id)
    return {folded: frozenset(holders) for folded, holders in found.items()}


def _entities(end_user_id: UUID, ids: Collection[UUID], records: Sequence[EntityChange]) -> tuple[EntityHistory, ...]:
    merged = Exists(Entity.objects.filter(end_user_id=end_user_id, merged_into_id=OuterRef("id")))
    rows = Entity.objects.filter(end_user_id=end_user_id, id__in=ids).annotate(stands_for_others=merged)
    return tuple(
        EntityHistory(
            id=row.id,
            name=row.name,
            added_by=row.added_by,
            stays=row.is_user or row.merged_into_id is not None or row.stands_for_others,
            records=tuple(_record(each) for each in records if each.entity_id == row.id),
        )
        for row in rows.order_by("id")
    )


def _record(row: EntityChange) -> EntityRecord:
    return EntityRecord(
        id=row.id,
        trace_id=row.trace_id,
        kind=EntityChangeKind(row.kind),
        alias=row.alias,
        folded=row.folded,
        former=row.former,
        uses=row.uses,
    )


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


MOST_TRIES = 3  # somebody may change a memory while the plan is made


def lock_item(rollback: Rollback, end_user_id: UUID, *, state: RollbackState) -> RollbackItem | None:
    """Keep other writers out until the transaction ends, in the lock order of writers: end user, then sessions.

    A worker locks the session of a trace before it commits it, so no trace of the user ends meanwhile. Returns the part
    of the rollback, None if it is no longer in the state. Raises Conflict while the end user is being erased.
    """
    hold_end_user(end_user_id)
    list(Session.objects.select_for_update().filter(end_user_id=end_user_id).order_by("id").values_list("id"))
    items = RollbackItem.objects.select_for_update().filter(end_user_id=end_user_id, rollback=rollback)
    return items.filter(state=state).first()


def save_item(item: RollbackItem) -> None:
    """Store what came of the part of a rollback, where the rows of its end user are."""
    RollbackItem.objects.filter(end_user_id=item.end_user_id, id=item.id).update(
        state=item.state, done=item.done, left_alone=item.left_alone, error=item.error, finished_at=item.finished_at
    )


def rules_of(project_id: UUID) -> Rules:
    """Return what plans of a project are made by."""
    return Rules(policy=active_policy(project_id=project_id).confidence, read=read_columns, now=timezone.now())


def write(*, rollback: Rollback, item: RollbackItem, plan: WritePlan, actor: str) -> None:
    """Apply a plan for one end user, and start the user's work again from what is stored then. Raises StalePlan."""
    context = WriteContext(
        project_id=rollback.project_id, end_user_id=item.end_user_id, actor=actor, rollback_id=rollback.id
    )
    apply_plan(plan=plan, context=context)
    interrupt(end_user_id=item.end_user_id)


def outdate_sessions(session_ids: list[UUID]) -> None:
    """Void what processes have cached of sessions: turns that were rolled back may be repeated."""
    Session.objects.filter(id__in=session_ids).update(last_turn_at=Now())


def kept_as_json(kept: tuple[Kept, ...]) -> list[dict[str, object]]:
    """Return what was left alone as JSON."""
    stored: list[dict[str, object]] = msgspec.to_builtins(kept)
    return stored


def kept_from_json(stored: list[dict[str, object]]) -> list[Kept]:
    """Read what was left alone."""
    return msgspec.convert(stored, list[Kept])
