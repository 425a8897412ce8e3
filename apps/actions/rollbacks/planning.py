"""Plan what a rollback changes in the memories and entities of one end user. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.actions.rollbacks.reverting import (
    CLOSED_AS_WRONG,
    EntityHistory,
    EntityRecord,
    Kept,
    KnownLink,
    MemoryHistory,
    ReadColumns,
    UserHistory,
    without_closing,
    without_rollback,
    without_traces,
)
from apps.pipeline.conflict.slots import duplicate_of, in_slot
from apps.pipeline.core.canonical import salted_hash
from apps.pipeline.core.enums import (
    LIVE_STATUSES,
    EntityChangeKind,
    LeftAlone,
    LinkKind,
    LinkStatus,
    Status,
    WorkKind,
)
from apps.pipeline.core.operations import (
    ROLLBACK_UNDONE,
    ROLLED_BACK,
    CountAlias,
    EnqueueWork,
    MarkEntityChanges,
    Operation,
    RestoreOrigins,
    ReviseEntity,
    ReviseMemory,
    SetLinkStatus,
    WithdrawOrigins,
)
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.policy import ConfidencePolicy
from apps.pipeline.core.statement import StoredMemory


@dataclass(frozen=True, slots=True)
class EntityTakings:
    """What a rollback took back of entities, by identifier: from this its undo restores them."""

    withdrawn: tuple[UUID, ...] = ()  # entities
    mentions: Mapping[UUID, int] | None = None  # entity to how many were taken back
    records: tuple[UUID, ...] = ()
    given_back: tuple[UUID, ...] = ()  # records of descriptions that went back to the entity


def mentions_of(memories: Iterable[MemoryHistory], taken: Mapping[UUID, Collection[UUID]]) -> Counter[UUID]:
    """Count how many traces mention an entity by what is taken: memory to the turns that say it no more."""
    mentioned = {
        (entity, origin.trace_id)
        for each in memories
        for origin in each.origins
        if origin.turn_id in taken.get(each.memory.id, ())
        for entity in each.entity_ids
    }
    return Counter(entity for entity, _ in mentioned)


def take_back(
    history: UserHistory, *, traces: Set[UUID], retracted: Set[UUID], mentions: Mapping[UUID, int]
) -> EntityTakings:
    """Decide what is taken back: entities and names that only these traces brought.

    `retracted` are the memories that say nothing any more: an entity that another memory refers to stays.
    """
    own = [(entity, record) for entity in history.entities for record in entity.records if record.trace_id in traces]
    return EntityTakings(
        withdrawn=tuple(each.id for each in history.entities if _is_unused(each, history, traces, retracted)),
        mentions=dict(mentions),
        records=tuple(record.id for _, record in own),
        given_back=tuple(record.id for entity, record in own if _goes_back(entity, record, history, traces)),
    )


def take_back_operations(history: UserHistory, takings: EntityTakings) -> Iterator[Operation]:
    """Yield the operations that take back entities, mentions and names."""
    mentions = takings.mentions or {}
    for entity in history.entities:
        taken = [each for each in entity.records if each.id in takings.records]
        name = _name_without(entity, taken)
        withdrawn = True if entity.id in takings.withdrawn else None
        if name or withdrawn or mentions.get(entity.id):
            yield ReviseEntity(entity.id, mentions=-mentions.get(entity.id, 0), name=name, withdrawn=withdrawn)
        yield from _counts(entity, taken, takings, sign=-1)
    if takings.records:
        yield MarkEntityChanges(takings.records, withdrawn=True)


def restore_operations(entities: Iterable[EntityHistory], takings: EntityTakings) -> Iterator[Operation]:
    """Yield the operations that restore what was taken; the records of the entities are the withdrawn ones."""
    mentions = takings.mentions or {}
    for entity in entities:
        taken = [each for each in entity.records if each.id in takings.records]
        name = _name_with(entity, taken)
        withdrawn = False if entity.id in takings.withdrawn else None
        if name or withdrawn is False or mentions.get(entity.id):
            yield ReviseEntity(entity.id, mentions=mentions.get(entity.id, 0), name=name, withdrawn=withdrawn)
        yield from _counts(entity, taken, takings, sign=1)
    if takings.records:
        yield MarkEntityChanges(takings.records, withdrawn=False)


def _is_unused(entity: EntityHistory, history: UserHistory, traces: Set[UUID], retracted: Set[UUID]) -> bool:
    if entity.stays or entity.added_by not in traces:
        return False
    named_by_others = any(each.trace_id not in traces for each in entity.records)
    return not named_by_others and history.referring.get(entity.id, frozenset()) <= retracted


def _goes_back(entity: EntityHistory, record: EntityRecord, history: UserHistory, traces: Set[UUID]) -> bool:
    """Tell whether a description that these traces took goes back: unless another trace has given it away since."""
    if record.kind is not EntityChangeKind.TAKEN:
        return False
    holders = (each for each in history.entities if each.id in history.holders.get(record.folded, frozenset()))
    return not any(
        each.folded == record.folded and each.kind is EntityChangeKind.NAMED and each.trace_id not in traces
        for holder in holders
        if holder.id != entity.id
        for each in holder.records
    )


def _name_without(entity: EntityHistory, taken: Collection[EntityRecord]) -> str | None:
    """Return the name that an entity had before these renamings, or None where the latest one stays."""
    name = entity.name
    for record in reversed([each for each in entity.records if each.kind is EntityChangeKind.RENAMED]):
        if record not in taken or record.alias != name:
            break
        name = record.former
    return name if name != entity.name else None


def _name_with(entity: EntityHistory, taken: Collection[EntityRecord]) -> str | None:
    name = entity.name
    for record in taken:
        if record.kind is EntityChangeKind.RENAMED and record.former == name:
            name = record.alias
    return name if name != entity.name else None


def _counts(
    entity: EntityHistory, taken: Collection[EntityRecord], takings: EntityTakings, *, sign: int
) -> Iterator[CountAlias]:
    named: Counter[tuple[str, str]] = Counter()
    for record in taken:
        if record.kind is EntityChangeKind.NAMED:
            named[record.folded, record.alias] += 1
        elif record.id in takings.given_back:
            named[record.folded, record.alias] -= record.uses
    for (_, alias), uses in named.items():
        if uses:
            yield CountAlias(entity.id, alias=alias, uses=sign * uses)


Changes = dict[UUID, dict[str, Any]]


class SlotSettlement:
    """The planned changes of memories, and the live ones as they are with what has been planned so far."""

    def __init__(
        self, *, changes: Changes, before: Mapping[UUID, StoredMemory], read: ReadColumns, now: datetime
    ) -> None:
        self.changes = {memory_id: dict(values) for memory_id, values in changes.items() if values}
        self.before = before
        self.kept: list[Kept] = []
        self._read, self._now = read, now
        self._live = {
            memory_id: self._after(memory_id)
            for memory_id, memory in before.items()
            if memory.status in LIVE_STATUSES and self._after(memory_id).status in LIVE_STATUSES
        }

    def settle(self) -> None:
        """Give each memory that becomes live its place, in the order in which they were said."""
        opened = [each for each in map(self._after, self.changes) if each.status in LIVE_STATUSES]
        for memory in sorted(opened, key=lambda each: (each.said_at, each.id)):
            if memory.id in self._live:
                self._keep_hash_unique(memory)
            else:
                self._open(memory)

    def _open(self, memory: StoredMemory) -> None:
        twin = duplicate_of(memory, self._live.values())
        if twin is not None:
            self._give_way(memory, twin)
            return
        self._keep_hash_unique(memory)
        if memory.status is Status.ACTIVE:
            live = list(self._live.values())
            self.changes[memory.id], closed = in_slot(self._after(memory.id), self.changes[memory.id], live=live)
            for closing in closed:
                ended = {**closing.changes(now=self._now), "superseded_by_id": memory.id}
                self._change(closing.memory_id, ended)
        self._change(memory.id, {})

    def _give_way(self, memory: StoredMemory, twin: StoredMemory) -> None:
        """Leave a memory closed that a live one repeats."""
        if self.before[memory.id].status is Status.RETRACTED:
            del self.changes[memory.id]
        else:
            self.changes[memory.id] |= {"status": Status.MERGED, "superseded_by_id": twin.id}
        self.kept.append(Kept(memory.id, LeftAlone.SAID_AGAIN))

    def _keep_hash_unique(self, memory: StoredMemory) -> None:
        others = (each for each in self._live.values() if each.id != memory.id)
        if any((each.private_to, each.canonical_hash) == (memory.private_to, memory.canonical_hash) for each in others):
            self._change(memory.id, {"canonical_hash": salted_hash(memory.canonical_hash, memory_id=memory.id)})

    def _change(self, memory_id: UUID, values: Mapping[str, Any]) -> None:
        self.changes.setdefault(memory_id, {}).update(values)
        self._live.pop(memory_id, None)
        after = self._after(memory_id)
        if after.status in LIVE_STATUSES:
            self._live[memory_id] = after

    def _after(self, memory_id: UUID) -> StoredMemory:
        """Return a memory as it is with the changes."""
        return self.before[memory_id].evolve(**self._read(self.changes.get(memory_id, {})))


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
