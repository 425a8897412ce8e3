"""Choose the traces that a rollback takes back, and load what it decides about."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from django.db.models import Exists, OuterRef, Q, QuerySet

from apps.common.errors import Unfit
from apps.memories.codec import statement_columns
from apps.memories.models import (
    Entity,
    EntityAlias,
    EntityChange,
    Memory,
    MemoryLink,
    MemoryOrigin,
    MemoryVersion,
    Rollback,
)
from apps.memories.reading.postgres_reader import PostgresMemoryReader
from apps.pipeline.core import identifiers
from apps.pipeline.core.agent_scope import AgentScope
from apps.pipeline.core.canonical import canonical_hash
from apps.pipeline.core.enums import EntityChangeKind, LinkStatus, Reason, Status, TraceStatus, values_of
from apps.pipeline.core.identifiers import Prefix, parse, show
from apps.pipeline.core.operations import ROLLED_BACK
from apps.pipeline.core.statement import Candidate
from apps.tenants.models import ApiKey, EndUser
from apps.traces.models import ConfigurationVersion, Replay, ReplayedTrace, Session, Trace, Turn
from apps.tuning.rollbacks.planning import EntityHistory, MemoryHistory, Takings, UserHistory, effective

# A rejected request wrote nothing; what was rolled back already is not taken back twice.
_ROLLABLE = frozenset({TraceStatus.DONE, TraceStatus.QUEUED, TraceStatus.DEAD, TraceStatus.EXTRACTION_FAILED})
_LOOKUPS = {
    "trace_ids": "id__in",
    "configuration_id": "configuration_id",
    "api_key_id": "api_key_id",
    "end_user_id": "end_user_id",
    "session_id": "session_id",
    "since": "created_at__gte",
    "until": "created_at__lt",
}


def selected_traces(rollback: Rollback) -> QuerySet[Trace]:
    """Return the traces that meet all conditions of a rollback's selection and were accepted before it was asked for.

    With `rerun` also those that wrote nothing, as another configuration may keep their turns. Traces that have read
    the turns of chosen ones again are chosen as well. Raises Unfit for a selection without a condition, which would
    mean the whole project.
    """
    given = rollback.selection
    if given.keys().isdisjoint((*_LOOKUPS, "replay_id")):
        raise Unfit("must name at least one condition", at="/selection")
    of_project = Q(project_id=rollback.project_id, created_at__lt=rollback.created_at)
    chosen = of_project & Q(status__in=values_of(_ROLLABLE | ({TraceStatus.REJECTED} if rollback.rerun else set())))
    for name, lookup in _LOOKUPS.items():
        if name in given:
            chosen &= Q(**{lookup: given[name]})
    if "replay_id" in given:
        chosen &= Q(id__in=ReplayedTrace.objects.filter(replay_id=given["replay_id"]).values("trace_id"))
    read = Trace.objects.filter(
        chosen,
        end_user_id=OuterRef("end_user_id"),
        session_id=OuterRef("session_id"),
        created_at__lte=OuterRef("created_at"),
    )
    readings = of_project & Q(Exists(read), reads_again=True, status__in=values_of(_ROLLABLE))
    return Trace.objects.filter(chosen | readings)


MOST_TRACES = 10_000  # named one by one


def named_selection(
    *,
    project_id: UUID,
    trace_ids: Sequence[UUID] = (),
    version: int | None = None,
    api_key_id: UUID | None = None,
    user_id: str | None = None,
    session_id: str | None = None,
    replay_id: UUID | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> dict[str, Any]:
    """Return the conditions that are set, as a rollback stores them: identifiers and times, no words of end users.

    Raises Unfit without a condition, or for a version, key, user, session or replay that the project does not have.
    """
    if len(trace_ids) > MOST_TRACES:
        raise Unfit(f"at most {MOST_TRACES:,}; name the rest by user or time", at="/selection/trace_ids")
    if session_id and not user_id:
        raise Unfit("is needed to name a session", at="/selection/user_id")
    user = identifiers.end_user_id(project_id=project_id, user_id=user_id or "")
    session = identifiers.session_id(end_user_id=user, session_id=session_id or "")
    mine = {"project_id": project_id}
    selection = {
        "trace_ids": [str(each) for each in trace_ids],
        "api_key_id": api_key_id and _known("key", ApiKey.objects.filter(**mine, id=api_key_id), at="key_id"),
        "replay_id": replay_id and _known("replay", Replay.objects.filter(**mine, id=replay_id), at="replay_id"),
        "end_user_id": user_id and _known("end user", EndUser.objects.filter(**mine, id=user), at="user_id"),
        "configuration_id": version
        and _known("version", ConfigurationVersion.objects.filter(**mine, number=version), at="version"),
        "session_id": session_id
        and _known("session", Session.objects.filter(end_user_id=user, id=session), at="session_id", of="end user"),
        "since": msgspec.to_builtins(since),
        "until": msgspec.to_builtins(until),
    }
    selection = {name: value for name, value in selection.items() if value}
    if not selection:
        raise Unfit("must name at least one condition", at="/selection")
    if since and until and until <= since:
        raise Unfit("must lie after since", at="/selection/until")
    return selection


def _known(what: str, rows: QuerySet[Any], *, at: str, of: str = "project") -> str:
    found = rows.values_list("id", flat=True).first()
    if found is None:
        raise Unfit(f"is no {what} of this {of}", at=f"/selection/{at}")
    return str(found)


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
    records = EntityChange.objects.filter(end_user_id=end_user_id, withdrawn=False)
    named = {
        *(entity for each in memories for entity in each.entity_ids),
        *records.filter(trace_id__in=traces).values_list("entity_id", flat=True),
        *Entity.objects.filter(end_user_id=end_user_id, added_by__in=traces).values_list("id", flat=True),
    }
    entities = _entities(end_user_id, named, list(records.filter(entity_id__in=named)))
    # Descriptions that the traces took go back, unless another trace has given them to an entity since.
    taken = records.filter(kind=EntityChangeKind.TAKEN, trace_id__in=traces)
    aliases = EntityAlias.objects.filter(end_user_id=end_user_id, withdrawn=False)
    given_since = records.filter(
        Exists(aliases.filter(entity_id=OuterRef("entity_id"), folded=OuterRef("folded"))),
        kind=EntityChangeKind.NAMED,
        folded=OuterRef("folded"),
    ).exclude(Q(entity_id=OuterRef("entity_id")) | Q(trace_id__in=traces))
    turns = Turn.objects.filter(end_user_id=end_user_id)
    said_before = turns.filter(
        trace_id__in=traces,
        session_id=OuterRef("session_id"),
        position__lt=OuterRef("position"),
        content__iexact=OuterRef("content"),
    )
    repeating = turns.filter(Exists(said_before), rejected_for=Reason.REPEATED_TURN).exclude(trace_id__in=traces)
    return UserHistory(
        memories=memories,
        entities=entities,
        links=list(MemoryLink.objects.filter(of_added, end_user_id=end_user_id).order_by("id")),
        live=PostgresMemoryReader().live(end_user_id=end_user_id),
        repeats=tuple(repeating.order_by("trace_id").values_list("trace_id", flat=True).distinct()),
        referring=_referring(end_user_id, [each.entity.id for each in entities]),
        given_back=set(taken.exclude(Exists(given_since)).values_list("id", flat=True)),
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
            changes=effective(changes.get(memory.id, ())),
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
