"""Find out which traces have come as far as their callers wait for."""

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import TraceStatus, WorkKind, WorkState
from apps.pipeline.core.identifiers import Prefix, parse
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import Trace


class IndexState(StrEnum):
    """Whether the memories of a trace are found by their meaning."""

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"  # until somebody retries the work


class Milestone(StrEnum):
    """How far a trace has come that a caller waits for."""

    ENDED = "ended"  # its memories are stored, and found by their words
    INDEXED = "indexed"  # and by their meaning


@dataclass(frozen=True, slots=True)
class AwaitedTrace:
    """A trace, and how far it has to come."""

    trace_id: UUID
    milestone: Milestone = Milestone.ENDED


def reached(awaited: AbstractSet[AwaitedTrace]) -> set[AwaitedTrace]:
    """Return those that have come as far, of any project; erased traces, and those that no worker will index, too."""
    with system_scope(SystemWork.WAITING_CALLERS):
        rows = Trace.objects.filter(id__in={each.trace_id for each in awaited})
        found = {trace.id: trace for trace in rows.only("id", "end_user_id", "status", "counts")}
        queued = {trace_id for trace_id, trace in found.items() if trace.status == TraceStatus.QUEUED}
        wanted = {each.trace_id for each in awaited if each.milestone is Milestone.INDEXED}
        indexed = [trace for trace_id, trace in found.items() if trace_id in wanted - queued]
        memories = {trace.id: _memories(trace.counts) for trace in indexed}
        states = _unfinished_index_work(
            end_user_ids={trace.end_user_id for trace in indexed},
            memory_ids={each for ids in memories.values() for each in ids},
        )
    waiting = {memory_id for memory_id, state in states.items() if state is not WorkState.DEAD}
    behind = {trace_id for trace_id, ids in memories.items() if not waiting.isdisjoint(ids)}
    late = {Milestone.ENDED: queued, Milestone.INDEXED: queued | behind}
    return {each for each in awaited if each.trace_id not in late[each.milestone]}


def index_state(trace: Trace) -> IndexState:
    """Return whether the memories of a trace are found by their meaning."""
    if trace.status == TraceStatus.QUEUED:
        return IndexState.PENDING
    states = _unfinished_index_work(end_user_ids=[trace.end_user_id], memory_ids=_memories(trace.counts)).values()
    if not states:
        return IndexState.DONE
    return IndexState.FAILED if set(states) == {WorkState.DEAD} else IndexState.PENDING


def _unfinished_index_work(*, end_user_ids: Collection[UUID], memory_ids: Collection[UUID]) -> dict[UUID, WorkState]:
    """Return the state of the work of each memory whose vectors are not written: pending, running or dead."""
    if not memory_ids:
        return {}
    work = OutboxRow.objects.filter(kind=WorkKind.INDEX_MEMORY, end_user_id__in=end_user_ids, subject_id__in=memory_ids)
    rows = work.exclude(state=WorkState.DONE).values_list("subject_id", "state")
    return {memory_id: WorkState(state) for memory_id, state in rows}


def _memories(counts: dict[str, Any]) -> list[UUID]:
    """Return the memories that a trace has stored or changed."""
    return [parse(Prefix.MEMORY, each) for each in counts.get("memory_ids", ())]
