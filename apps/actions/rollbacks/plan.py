"""The plan that takes traces back, and the one that undoes this: inverses of what was written, for the same writer."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from apps.actions.rollbacks.entities import (
    EntityTakings,
    mentions_of,
    restore_operations,
    take_back,
    take_back_operations,
)
from apps.actions.rollbacks.history import Kept, KnownLink, UserHistory
from apps.actions.rollbacks.memories import (
    CLOSED_AS_WRONG,
    ReadColumns,
    without_closing,
    without_rollback,
    without_traces,
)
from apps.actions.rollbacks.settle import Changes, SlotSettlement
from apps.pipeline.core.enums import LIVE_STATUSES, LeftAlone, LinkKind, LinkStatus, Status, WorkKind
from apps.pipeline.core.operations import (
    ROLLBACK_UNDONE,
    ROLLED_BACK,
    EnqueueWork,
    Operation,
    RestoreOrigins,
    ReviseMemory,
    SetLinkStatus,
    WithdrawOrigins,
)
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.policy import ConfidencePolicy
from apps.pipeline.core.statement import StoredMemory

LinkKey = tuple[UUID, UUID, LinkKind]
_WORDING = frozenset({"content", "predicate", "object_text"})


@dataclass(frozen=True, slots=True)
class Rules:
    """What a plan is made by, beside the history: the policy, the codec of columns and the time."""

    policy: ConfidencePolicy
    read: ReadColumns
    now: datetime


@dataclass(frozen=True, slots=True)
class Takings:
    """What a rollback took back beside the values of memories, by identifier: from this its undo restores it."""

    origins: Mapping[UUID, tuple[UUID, ...]]  # memory to turns
    links: tuple[LinkKey, ...] = ()
    entities: EntityTakings = field(default_factory=EntityTakings)


@dataclass(frozen=True, slots=True)
class RollbackPlan:
    """What is to be written for one end user, what that takes back, and what is left alone."""

    plan: WritePlan
    takings: Takings
    kept: tuple[Kept, ...] = ()


def plan_rollback(history: UserHistory, *, traces: Set[UUID], forced: Set[UUID], rules: Rules) -> RollbackPlan:
    """Plan to take back what traces wrote.

    1. Each memory loses what the traces did to it; what only they say is retracted.
    2. What a retracted memory had closed is as it was before.
    3. What becomes live again finds its place among the live memories.
    4. Links, entities and names that only the traces brought go with them.
    """
    changes: Changes = {}
    origins: dict[UUID, tuple[UUID, ...]] = {}
    kept: list[Kept] = []
    for each in history.memories:
        inverse = without_traces(
            each, traces=traces, forced=each.memory.id in forced, policy=rules.policy, read=rules.read
        )
        changes[each.memory.id] = inverse.changes
        kept += [inverse.kept] if inverse.kept else []
        if inverse.turn_ids:
            origins[each.memory.id] = inverse.turn_ids
    retracted = {key for key, values in changes.items() if values.get("status") is Status.RETRACTED}
    _reopen_closed(history, changes, retracted, kept)
    settlement = _settle(history, changes, rules)
    gone = retracted | {each.memory.id for each in history.memories if each.memory.status in CLOSED_AS_WRONG}
    mentions = mentions_of(history.memories, origins)
    entities = take_back(history, traces=traces, retracted=gone, mentions=mentions)
    links = tuple(_key(each) for each in history.links if each.trace_id in traces and each.status is LinkStatus.OPEN)
    takings = Takings(origins, links=links, entities=entities)
    operations: list[Operation] = [
        *take_back_operations(history, entities),
        *_revisions(settlement, verb=ROLLED_BACK),
        *(WithdrawOrigins(memory_id, turn_ids) for memory_id, turn_ids in origins.items()),
        *(_mark(each, LinkStatus.OPEN, LinkStatus.SETTLED) for each in links),
    ]
    kept += [*settlement.kept, *_built_upon(history, traces, retracted)]
    kept += [Kept(None, LeftAlone.REPEATED, trace_id=each) for each in history.repeats]
    return RollbackPlan(WritePlan(tuple(operations)), takings, tuple(dict.fromkeys(kept)))


def plan_undo(history: UserHistory, *, rollback_id: UUID, takings: Takings, rules: Rules) -> RollbackPlan:
    """Plan to undo a rollback; what was changed since is left alone.

    The links of the history are those that the rollback closed and that are still closed, its entities those that it
    touched, with the records that it withdrew.
    """
    changes: Changes = {}
    kept: list[Kept] = []
    origins: dict[UUID, tuple[UUID, ...]] = {}
    for each in history.memories:
        inverse = without_rollback(each, rollback_id=rollback_id, turn_ids=takings.origins.get(each.memory.id, ()))
        changes[each.memory.id] = inverse.changes
        kept += [inverse.kept] if inverse.kept else []
        if inverse.turn_ids:
            origins[each.memory.id] = inverse.turn_ids
    settlement = _settle(history, changes, rules)
    again = {each.memory_id for each in settlement.kept}
    origins = {memory_id: turns for memory_id, turns in origins.items() if memory_id not in again}
    operations: list[Operation] = [
        *restore_operations(history.entities, takings.entities),
        *_revisions(settlement, verb=ROLLBACK_UNDONE),
        *(RestoreOrigins(memory_id, turn_ids) for memory_id, turn_ids in origins.items()),
        *(_mark(_key(each), LinkStatus.SETTLED, LinkStatus.OPEN) for each in history.links),
    ]
    return RollbackPlan(WritePlan(tuple(operations)), takings, tuple(dict.fromkeys([*kept, *settlement.kept])))


def _reopen_closed(history: UserHistory, changes: Changes, retracted: Set[UUID], kept: list[Kept]) -> None:
    left_alone = {each.memory_id for each in kept if each.reason is LeftAlone.EDITED}
    for each in history.memories:
        if not changes[each.memory.id] and each.memory.id not in left_alone:
            changes[each.memory.id] = without_closing(each, closed_by=retracted)


def _settle(history: UserHistory, changes: Changes, rules: Rules) -> SlotSettlement:
    before: dict[UUID, StoredMemory] = {each.id: each for each in history.live}
    before |= {each.memory.id: each.memory for each in history.memories}
    settlement = SlotSettlement(changes=changes, before=before, read=rules.read, now=rules.now)
    settlement.settle()
    return settlement


def _revisions(settlement: SlotSettlement, *, verb: str) -> list[Operation]:
    """Return the revisions, and the indexing of what gets other words or is live again."""
    operations: list[Operation] = []
    for memory_id, values in settlement.changes.items():
        before = settlement.before[memory_id]
        operations.append(ReviseMemory(memory_id, expected_version=before.version, verb=verb, changes=values))
        becomes_live = values.get("status") in LIVE_STATUSES and before.status not in LIVE_STATUSES
        if becomes_live or not _WORDING.isdisjoint(values):
            operations.append(EnqueueWork(WorkKind.INDEX_MEMORY, memory_id))
    return operations


def _built_upon(history: UserHistory, traces: Set[UUID], retracted: Set[UUID]) -> list[Kept]:
    """Return the live memories that other traces have linked to a memory that is gone now."""
    live = {each.id for each in history.live} - retracted
    found = []
    for link in history.links:
        ends = {link.from_id, link.to_id}
        if link.trace_id not in traces and ends & retracted:
            found += [Kept(each, LeftAlone.BUILT_UPON) for each in sorted(ends & live)]
    return found


def _key(link: KnownLink) -> LinkKey:
    return link.from_id, link.to_id, link.kind


def _mark(key: LinkKey, expected: LinkStatus, status: LinkStatus) -> Operation:
    from_id, to_id, kind = key
    resolution = ROLLED_BACK if status is LinkStatus.SETTLED else ""
    return SetLinkStatus(from_id, to_id, kind=kind, expected=expected, status=status, resolution=resolution)
