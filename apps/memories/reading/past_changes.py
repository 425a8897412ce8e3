"""Everything that was written of one end user, in its order, so that any past state can be built again.

What was deleted since (by a retention period, with a turn, or when a merge of entities was undone) is not among it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import IntEnum
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from apps.memories.codec import is_stored, read_columns
from apps.memories.models import Memory, MemoryOrigin, MemoryVersion
from apps.memories.reading.memory_state import MemoryState, StoredState, with_changes, with_origin
from apps.memories.reading.past_values import past_value
from apps.pipeline.core.enums import Role
from apps.pipeline.core.identifiers import Prefix, parse
from apps.pipeline.core.operations import PlannedOrigin
from apps.pipeline.core.statement import STATEMENT_FIELDS, StoredMemory
from apps.pipeline.core.turn import SourceTurn
from apps.traces.models import Trace

Apply = Callable[[MemoryState], MemoryState]

_NOT_COLUMNS = {"subject"}
_STORED = ("id", "version", "status", "canonical_hash", "confidence", "confidence_parts", "role", "metadata")
_SOURCES = ("private_to", "agent_id", "app_id", "run_id", "further_sources")
_TIMES = ("said_at", "valid_from", "valid_until")
_BESIDE = ("subject_id", "object_text", "superseded_by_id", "created_at", "session_id", "trace_id")
_COLUMNS = (*_STORED, *_SOURCES, *_TIMES, *_BESIDE, *(name for name in STATEMENT_FIELDS if name not in _NOT_COLUMNS))


class Rank(IntEnum):
    """The order of what was written at the same moment."""

    ENTITY = 0
    MEMORY = 1
    ORIGIN = 2
    VALUES = 3
    MENTION = 4


@dataclass(frozen=True, slots=True)
class PastChange:
    """A change that was written, and the trace that wrote it, if one did.

    `apply` ignores what a state does not have. `new_content_of` is the memory whose content it sets.
    """

    at: datetime
    rank: Rank
    apply: Apply
    trace_id: UUID | None = None
    new_content_of: UUID | None = None


@dataclass(frozen=True, slots=True)
class PastMemories:
    """The changes of memories, and what is known from them about traces: when they ended, what they mention."""

    changes: tuple[PastChange, ...]
    ends: Mapping[UUID, datetime]
    said: Mapping[UUID, datetime]  # the latest time that a trace's memories were said
    mentioned: Mapping[UUID, frozenset[UUID]]  # by trace: subjects and objects of what it says


def past_memories(*, end_user_id: UUID) -> PastMemories:
    """Read the changes of an end user's memories, in no order."""
    traces = Trace.objects.filter(end_user_id=end_user_id, finished_at__isnull=False)
    ends = {trace_id: at for trace_id, at in traces.values_list("id", "finished_at") if at is not None}
    rows = {row["id"]: row for row in Memory.objects.filter(end_user_id=end_user_id).values(*_COLUMNS)}
    entities = {memory_id: frozenset(_entities_of(row)) for memory_id, row in rows.items()}
    changes: list[PastChange] = list(_value_changes(end_user_id, rows))
    changes += (_added(row) for row in rows.values())
    said: dict[UUID, datetime] = {}
    mentioned: defaultdict[UUID, frozenset[UUID]] = defaultdict(frozenset)
    for origin in MemoryOrigin.objects.standing().filter(end_user_id=end_user_id).order_by("created_at", "said_at"):
        is_copy = origin.created_at > ends.get(origin.trace_id, origin.created_at)
        changes.append(_origin_added(origin, is_copy=is_copy))
        if not is_copy:
            said[origin.trace_id] = max(origin.said_at, said.get(origin.trace_id, origin.said_at))
            mentioned[origin.trace_id] |= entities[origin.memory_id]
    return PastMemories(tuple(changes), ends=ends, said=said, mentioned=mentioned)


def _entities_of(row: Mapping[str, Any]) -> Iterator[UUID]:
    if row["subject_id"]:
        yield row["subject_id"]
    if "entity" in row["object"]:
        yield parse(Prefix.ENTITY, row["object"]["entity"])


def _value_changes(end_user_id: UUID, rows: dict[UUID, dict[str, Any]]) -> Iterator[PastChange]:
    """Yield the changes of values, the latest first, and leave the rows as they were when they were added."""
    versions: QuerySet[MemoryVersion] = MemoryVersion.objects.filter(end_user_id=end_user_id)
    for version in versions.order_by("memory", "-version"):
        row = rows[version.memory_id]
        after = {column: row[column] for column in version.values if column in row}
        yield PastChange(
            at=version.known_until,
            rank=Rank.VALUES,
            apply=partial(_change, memory_id=version.memory_id, values=after),
            trace_id=version.trace_id,
            new_content_of=version.memory_id if "content" in after else None,
        )
        row.update({column: past_value(column, value) for column, value in version.values.items() if column in row})
        row["version"] = version.version


def _change(state: MemoryState, *, memory_id: UUID, values: Mapping[str, Any]) -> MemoryState:
    stored = state.memories.get(memory_id)
    if stored is None:
        return state
    heir = values.get("superseded_by_id", stored.superseded_by)
    fields = read_columns({name: value for name, value in values.items() if is_stored(name)})
    return state.with_memory(replace(with_changes(stored, **fields), superseded_by=heir))


def _added(row: Mapping[str, Any]) -> PastChange:
    fields = read_columns({name: value for name, value in row.items() if is_stored(name)})
    stored = StoredState(
        memory=StoredMemory(**fields),
        superseded_by=row["superseded_by_id"],
        created_at=row["created_at"],
        session_id=row["session_id"],
    )
    return PastChange(
        at=row["created_at"],
        rank=Rank.MEMORY,
        apply=lambda state: state.with_memory(stored),
        trace_id=row["trace_id"],
        new_content_of=stored.memory.id,
    )


def _origin_added(row: MemoryOrigin, *, is_copy: bool) -> PastChange:
    turn = SourceTurn(id=row.turn_id, position=0, role=Role(row.role), content=row.evidence, received_at=row.said_at)
    origin = PlannedOrigin(turn=turn, session_id=row.session_id, api_key_id=row.api_key_id, evidence=row.evidence)
    return PastChange(
        at=row.created_at,
        rank=Rank.ORIGIN,
        apply=partial(_add_origin, memory_id=row.memory_id, origin=origin),
        trace_id=None if is_copy else row.trace_id,
    )


def _add_origin(state: MemoryState, *, memory_id: UUID, origin: PlannedOrigin) -> MemoryState:
    stored = state.memories.get(memory_id)
    return state if stored is None else state.with_memory(with_origin(stored, origin))


def in_order(changes: Sequence[PastChange]) -> list[PastChange]:
    """Return changes in the order in which they were written."""
    return sorted(changes, key=lambda change: (change.at, change.rank))
