"""The state of an end user's memories, entities and links at a past time."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import IntEnum
from functools import partial
from operator import methodcaller
from typing import Any, cast
from uuid import UUID

import msgspec
from django.db.models import Field, QuerySet

from apps.memories.codec import STORED_COLUMNS, read_columns
from apps.memories.models import Entity, EntityAlias, LedgerEntry, Memory, MemoryOrigin, MemoryVersion
from apps.memories.reading.memory_state import (
    MemoryState,
    StoredState,
    with_mentions,
    with_operation,
    with_origins,
)
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import EntityType, TraceStatus
from apps.pipeline.core.identifiers import Prefix, parse
from apps.pipeline.core.operations import AddAlias, AddEntity, ReassignAlias, RenameEntity, ReviseMemory
from apps.pipeline.core.statement import StoredMemory
from apps.traces.models import Trace


def as_believed(*, memories: Sequence[Memory], moment: datetime) -> list[Memory]:
    """Restore, in place, the values that later changes replaced; the memories are those of `known_at(moment)`.

    One query. A version row has the values that its change replaced, so the earliest change after the moment is
    applied last.
    """
    by_id = {memory.id: memory for memory in memories}
    end_user_ids = {memory.end_user_id for memory in memories}
    later = MemoryVersion.objects.filter(
        end_user__in=end_user_ids, memory__in=list(by_id), known_until__gt=moment
    ).order_by("memory", "-version")
    for past in later:
        memory = by_id[past.memory_id]
        for column, value in past_values(past.values).items():
            setattr(memory, column, value)
        memory.version, memory.updated_at = past.version, past.known_from
    return list(memories)


def past_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the replaced values of a version with the types of their columns."""
    return {
        name: cast("Field[Any, Any]", Memory._meta.get_field(name)).to_python(value) for name, value in values.items()
    }


EntityOperation = AddEntity | AddAlias | ReassignAlias | RenameEntity
_KINDS: dict[str, type[EntityOperation]] = {
    each.__name__: each for each in (AddEntity, AddAlias, ReassignAlias, RenameEntity)
}
MERGED, SPLIT = "entity_merged", "entity_split"  # verbs of history and ledger


class Rank(IntEnum):
    """The order of what was written at the same moment."""

    ENTITY = 0
    MEMORY = 1
    ORIGIN = 2
    VALUES = 3
    MENTION = 4


Apply = Callable[[MemoryState], MemoryState]


@dataclass(frozen=True, slots=True)
class PastChange:
    """A change that was written, and the trace that wrote it, if one did.

    `apply` raises KeyError for a state that has not what it changes. `new_content_of` is the memory whose content it
    sets.
    """

    at: datetime
    rank: Rank
    apply: Apply
    trace_id: UUID | None = None
    new_content_of: UUID | None = None


_COLUMNS = (*STORED_COLUMNS, "created_at", "session_id", "trace_id")


def past_changes(*, end_user_id: UUID) -> list[PastChange]:
    """Return the changes of an end user's memories and entities, in the order in which they were written."""
    traces = Trace.objects.filter(end_user_id=end_user_id, finished_at__isnull=False)
    ends = {trace_id: at for trace_id, at in traces.values_list("id", "finished_at") if at is not None}
    rows = {row["id"]: row for row in Memory.objects.filter(end_user_id=end_user_id).values(*_COLUMNS)}
    entities = {memory_id: frozenset(_entities_of(row)) for memory_id, row in rows.items()}
    changes: list[PastChange] = list(_memory_changes(end_user_id, rows))
    said: dict[UUID, datetime] = {}  # the latest time that a trace's memories were said
    mentioned: defaultdict[UUID, frozenset[UUID]] = defaultdict(frozenset)  # by trace: what it says something about
    for origin in MemoryOrigin.objects.standing().filter(end_user_id=end_user_id).order_by("created_at", "said_at"):
        is_copy = origin.created_at > ends.get(origin.trace_id, origin.created_at)
        changes.append(_origin_added(origin, is_copy=is_copy))
        if not is_copy:
            said[origin.trace_id] = max(origin.said_at, said.get(origin.trace_id, origin.said_at))
            mentioned[origin.trace_id] |= entities[origin.memory_id]
    planned: list[EntityOperation] = []
    added: defaultdict[UUID, set[UUID]] = defaultdict(set)
    kept = traces.exclude(status=TraceStatus.ROLLED_BACK).order_by("finished_at")
    for trace_id, plan in kept.values_list("id", "plan"):
        for values in (each for each in plan if trace_id in ends and each["op"] in _KINDS):
            operation = msgspec.convert(values, type=_KINDS[values["op"]])
            planned.append(operation)
            changes.append(_operated(ends[trace_id], operation, trace_id))
            if isinstance(operation, AddEntity):
                added[trace_id].add(operation.entity.id)
    changes += _further_entity_changes(end_user_id, planned)
    for trace_id in {*added, *mentioned} & ends.keys():
        at = ends[trace_id]
        latest = said.get(trace_id, at)
        mention = partial(with_mentions, mentioned=mentioned[trace_id], added=added[trace_id], said_at=latest)
        changes.append(PastChange(at=at, rank=Rank.MENTION, apply=mention, trace_id=trace_id))
    stored = Memory.objects.filter(end_user_id=end_user_id, trace__isnull=True, subject__isnull=False)  # by callers
    for subject_id, at in stored.values_list("subject_id", "created_at"):
        mention = partial(with_mentions, mentioned={subject_id}, said_at=at)
        changes.append(PastChange(at=at, rank=Rank.MENTION, apply=mention))
    return sorted(changes, key=lambda change: (change.at, change.rank))


def _operated(at: datetime, operation: EntityOperation, trace_id: UUID | None = None) -> PastChange:
    return PastChange(at=at, rank=Rank.ENTITY, apply=partial(with_operation, operation, now=at), trace_id=trace_id)


def _further_entity_changes(end_user_id: UUID, planned: Sequence[EntityOperation]) -> Iterator[PastChange]:
    """Yield entities and names that callers and people have added, and merges and splits."""
    added = {each.entity.id for each in planned if isinstance(each, AddEntity)}
    for row in Entity.objects.filter(end_user_id=end_user_id, withdrawn=False).exclude(id__in=added):
        entity = KnownEntity(id=row.id, name=row.name, type=EntityType(row.type), is_user=row.is_user)
        yield _operated(row.created_at, AddEntity(entity))
    # The names that plans have given, the former ones of renamed entities too.
    given: list[tuple[UUID, str]] = []
    called: dict[UUID, str] = {}
    for each in planned:
        if isinstance(each, AddEntity):
            called[each.entity.id] = each.entity.name
            given += [(each.entity.id, alias) for alias in each.entity.aliases]
        elif isinstance(each, RenameEntity):
            given.append((each.entity_id, called.get(each.entity_id, "")))
            called[each.entity_id] = each.name
        else:
            given.append((each.entity_id, each.alias))
    named = {(entity_id, canonical_text(name)[:255]) for entity_id, name in given}
    for alias in EntityAlias.objects.filter(end_user_id=end_user_id, withdrawn=False).order_by("created_at", "folded"):
        if (alias.entity_id, alias.folded) not in named:
            yield _operated(alias.created_at, AddAlias(alias.entity_id, alias.alias))
    rows = Entity.objects.filter(end_user_id=end_user_id).in_bulk()
    entries = LedgerEntry.objects.filter(end_user_id=end_user_id, object_kind="entity", verb__in=(MERGED, SPLIT))
    for entry in (each for each in entries.order_by("created_at", "id") if each.object_id in rows):
        change = partial(_merge_or_split, rows[entry.object_id], entry.verb)
        yield PastChange(at=entry.created_at, rank=Rank.ENTITY, apply=change)


def _merge_or_split(row: Entity, verb: str, state: MemoryState) -> MemoryState:
    """Return a state in which an entity that is merged into another is not known as one of its own."""
    if verb == MERGED:
        return replace(state, entities={key: each for key, each in state.entities.items() if key != row.id})
    entity = KnownEntity(
        id=row.id,
        name=row.name,
        type=EntityType(row.type),
        mention_count=row.mention_count,
        last_mentioned_at=row.last_mentioned_at,
    )
    return state.with_uses(entity, state.alias_uses.get(row.id, ()))


def _entities_of(row: Mapping[str, Any]) -> Iterator[UUID]:
    if row["subject_id"]:
        yield row["subject_id"]
    if "entity" in row["object"]:
        yield parse(Prefix.ENTITY, row["object"]["entity"])


def _memory_changes(end_user_id: UUID, rows: dict[UUID, dict[str, Any]]) -> Iterator[PastChange]:
    """Yield the changes of values, the latest first, then the memories as they were added, to which it sets `rows`."""
    versions: QuerySet[MemoryVersion] = MemoryVersion.objects.filter(end_user_id=end_user_id)
    for version in versions.order_by("memory", "-version"):
        row = rows[version.memory_id]
        after = {column: row[column] for column in version.values if column in row}
        revision = ReviseMemory(version.memory_id, version.version, verb=version.operation, changes=after)
        yield PastChange(
            at=version.known_until,
            rank=Rank.VALUES,
            apply=partial(with_operation, revision, now=version.known_until),
            trace_id=version.trace_id,
            new_content_of=version.memory_id if "content" in after else None,
        )
        row |= past_values({column: value for column, value in version.values.items() if column in row})
        row["version"] = version.version
    for row in rows.values():
        added = StoredState(
            memory=StoredMemory(**read_columns(row)),
            created_at=row["created_at"],
            session_id=row["session_id"],
        )
        yield PastChange(
            at=row["created_at"],
            rank=Rank.MEMORY,
            apply=methodcaller("with_memory", added),
            trace_id=row["trace_id"],
            new_content_of=added.memory.id,
        )


def _origin_added(row: MemoryOrigin, *, is_copy: bool) -> PastChange:
    said_in = [(str(row.session_id), row.said_at.date().isoformat())]

    def add(state: MemoryState) -> MemoryState:
        return state.with_memory(with_origins(state.memories[row.memory_id], said_in))

    return PastChange(at=row.created_at, rank=Rank.ORIGIN, apply=add, trace_id=None if is_copy else row.trace_id)
