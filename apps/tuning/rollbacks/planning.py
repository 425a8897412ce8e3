"""Plan what a rollback changes in the memories and entities of one end user. Pure."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.utils import timezone

from apps.memories.codec import read_columns
from apps.memories.models import Entity, EntityChange, MemoryLink, MemoryOrigin, MemoryVersion
from apps.memories.reading.past import past_values
from apps.pipeline.conflict.slots import duplicate_of, in_slot
from apps.pipeline.core.canonical import salted_hash
from apps.pipeline.core.confidence import Confidence, confidence_of, with_recurrence
from apps.pipeline.core.enums import LIVE_STATUSES, EntityChangeKind, LeftAlone, LinkKind, LinkStatus, Status, WorkKind
from apps.pipeline.core.operations import (
    ROLLBACK_UNDONE,
    ROLLED_BACK,
    CountAlias,
    EnqueueWork,
    MarkEntityChanges,
    MarkOrigins,
    Operation,
    ReviseEntity,
    ReviseMemory,
    SetLinkStatus,
)
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.policy import ConfidencePolicy
from apps.pipeline.core.statement import StoredMemory

CLOSED_AS_WRONG = frozenset({Status.RETRACTED, Status.REJECTED})
_ENDED = "ended"  # the system closed it when the end came that an earlier change had set
# What people decide about other memories and about entities changes a memory as well, but is no word about it.
_NO_EDITS = frozenset({"superseded", "entity_merged", "entity_split"})
# What closes a memory, or opens it: half of it would leave a superseded memory without an end.
_CLOSING = frozenset({"status", "valid_until", "superseded_by_id"})


@dataclass(frozen=True, slots=True)
class MemoryHistory:
    """A memory as it is, and how it became so."""

    memory: StoredMemory
    added_by: UUID | None = None  # the trace that stored it, or that says it first of those that still do
    superseded_by: UUID | None = None
    changes: Sequence[MemoryVersion] = ()  # oldest first, without rollbacks that were undone
    origins: Sequence[MemoryOrigin] = ()  # those that count, oldest first
    # The columns of its statement as the first trace says it that stays; empty where that isn't known any more.
    restated: Mapping[str, Any] = field(default_factory=dict)

    @property
    def entity_ids(self) -> frozenset[UUID]:
        """Return the subject and the object of the memory, where they are entities."""
        value = self.memory.object.entity
        return frozenset(each for each in (self.memory.subject_id, value and value.entity_id) if each)


@dataclass(frozen=True, slots=True)
class EntityHistory:
    """An entity as it is, and what traces did to its names."""

    entity: Entity
    stays: bool = False  # it is the end user, was merged into another or stands for others
    records: Sequence[EntityChange] = ()  # oldest first


@dataclass(frozen=True, slots=True)
class UserHistory:
    """Everything that the rollback of some traces of one end user can touch.

    Besides the memories that the traces wrote or changed, `memories` holds those that a memory of the traces has
    closed. `referring` are the subjects and objects of all memories that no rollback has taken back.
    """

    memories: Sequence[MemoryHistory] = ()
    entities: Sequence[EntityHistory] = ()
    links: Sequence[MemoryLink] = ()
    live: Sequence[StoredMemory] = ()  # all of the end user
    repeats: Sequence[UUID] = ()  # other traces that a turn of these kept from being processed
    referring: Mapping[UUID, Set[UUID]] = field(default_factory=dict)  # entity to memories
    given_back: Set[UUID] = frozenset()  # records of descriptions that the traces took and that go back


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory that a rollback, or its undo, leaves alone as a whole or in part, and why.

    A trace is named instead where it stored nothing because it repeats what is taken back.
    """

    memory_id: UUID | None
    reason: LeftAlone
    can_be_forced: bool = False
    trace_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class MemoryInverse:
    """New values of a memory's columns, the turns that say it no more or again, and why something is kept."""

    changes: dict[str, Any] = field(default_factory=dict)
    turn_ids: tuple[UUID, ...] = ()
    kept: Kept | None = None


def effective(changes: Sequence[MemoryVersion]) -> list[MemoryVersion]:
    """Return the changes but for rollbacks that were undone: these cancel each other out."""
    undone = {each.rollback_id for each in changes if each.operation == ROLLBACK_UNDONE}
    return [each for each in changes if each.rollback_id is None or each.rollback_id not in undone]


def values_without(changes: Sequence[MemoryVersion], undone: Collection[int]) -> dict[str, Any]:
    """Return what columns become if some changes, named by the versions that they replaced, had not happened.

    A column that another change has set since keeps its value, and is left out.
    """
    undone = _with_endings(changes, undone)
    values: dict[str, Any] = {}
    set_since: set[str] = set()
    for change in reversed(changes):
        if change.version in undone:
            values |= {name: before for name, before in change.values.items() if name not in set_since}
        else:
            set_since |= change.values.keys()
    return past_values(values)


def edits_since(changes: Sequence[MemoryVersion], undone: Collection[int]) -> list[MemoryVersion]:
    """Return what people and callers have changed since the first of some changes, of the columns that these set."""
    since = [each for each in changes if undone and each.version > min(undone)]
    columns = {name for each in changes if each.version in undone for name in each.values}
    return [each for each in since if is_edit(each) and not columns.isdisjoint(each.values)]


def is_edit(change: MemoryVersion) -> bool:
    """Return True for a change of the memory itself on the word of a person, or of the holder of a key."""
    by_somebody = change.actor.startswith(("person:", "key:"))
    return by_somebody and change.rollback_id is None and change.operation not in _NO_EDITS


def _with_endings(changes: Sequence[MemoryVersion], undone: Collection[int]) -> set[int]:
    """Add the endings that followed from a validity which an undone change had set."""
    ends = [each.version for each in changes if each.version in undone and "valid_until" in each.values]
    follows = {each.version for each in changes if each.operation == _ENDED and ends and each.version > min(ends)}
    return set(undone) | follows


def without_traces(
    history: MemoryHistory, *, traces: Set[UUID], forced: bool, policy: ConfidencePolicy
) -> MemoryInverse:
    """Take back what traces did to a memory.

    What only they say is retracted; what others say as well stays with the others' words and sources. A memory that a
    person or caller has changed since stays as it is unless it is `forced`.
    """
    changes = history.changes
    undone = {each.version for each in changes if each.trace_id in traces}
    lost = tuple(each.turn_id for each in history.origins if each.trace_id in traces)
    left = [each for each in history.origins if each.trace_id not in traces]
    is_own = history.added_by in traces
    edits = [each for each in changes if is_edit(each)] if is_own else edits_since(changes, undone)
    if is_own and not left and history.memory.status in CLOSED_AS_WRONG:
        return MemoryInverse(turn_ids=lost)
    if edits and not forced:
        return MemoryInverse(kept=Kept(history.memory.id, LeftAlone.EDITED, can_be_forced=True))
    if is_own and not left:
        # Without its place in the trace, so that a run of the trace may store it anew.
        return MemoryInverse({"status": Status.RETRACTED, "candidate_index": None}, turn_ids=lost)
    if not is_own:
        undone |= {each.version for each in edits}
    values = values_without(changes, undone)
    if is_own:
        stays = _with_endings(changes, undone)
        set_by_others = {name for each in changes if each.version not in stays for name in each.values}
        # The columns that name a source, and the statement where that is known, as the first other turn says it.
        origin, memory = left[0], history.memory
        moved = {"valid_from": origin.said_at} if memory.valid_from == memory.said_at else {}
        copied = ("said_at", "evidence", "trace_id", "session_id", "api_key_id", "role")
        source = {name: getattr(origin, name) for name in copied}
        said = {**history.restated, **moved, **source, "context": "", "candidate_index": None}
        values |= {name: value for name, value in said.items() if name not in set_by_others}
    if lost:
        values |= _recounted(history.memory.evolve(**read_columns(values)), left, bool(history.restated), policy)
    kept = Kept(history.memory.id, LeftAlone.SAID_ELSEWHERE) if is_own else None
    return MemoryInverse(values, turn_ids=lost, kept=kept)


def without_rollback(history: MemoryHistory, *, rollback_id: UUID) -> MemoryInverse:
    """Undo what a rollback did to a memory, unless somebody has changed the same since."""
    changes = history.changes
    undone = {each.version for each in changes if each.rollback_id == rollback_id}
    touched = {name for each in changes if each.version in undone for name in each.values}
    if not touched.isdisjoint(_CLOSING):
        touched |= _CLOSING
    later = [each for each in changes if undone and each.version > min(undone) and each.rollback_id != rollback_id]
    if any(each.operation == ROLLED_BACK and not touched.isdisjoint(each.values) for each in later):
        return MemoryInverse(kept=Kept(history.memory.id, LeftAlone.ROLLED_BACK_SINCE))
    if edits_since(changes, undone):
        return MemoryInverse(kept=Kept(history.memory.id, LeftAlone.EDITED))
    return MemoryInverse(values_without(changes, undone))


def without_closing(history: MemoryHistory, *, closed_by: Set[UUID]) -> dict[str, Any]:
    """Return the values of a memory that retracted memories have closed, as they were before."""
    closings = [each.version for each in history.changes if "superseded_by_id" in each.values]
    return values_without(history.changes, closings[-1:]) if history.superseded_by in closed_by else {}


def _recounted(
    memory: StoredMemory, origins: Collection[MemoryOrigin], is_restated: bool, policy: ConfidencePolicy
) -> dict[str, Any]:
    """Return recurrence and confidence of a memory that only these origins say, by their sessions and days."""
    days = max(1, len({(each.session_id, each.said_at.date()) for each in origins}))
    parts = memory.confidence_parts
    if is_restated:
        computed = confidence_of(memory, policy=policy, origins=days)
        confidence = Confidence.from_parts({**computed.parts(), "review": parts.get("review")})
    else:
        confidence = with_recurrence(parts, policy=policy, origins=days)
    return {"recurrence": days, "confidence": confidence.value, "confidence_parts": confidence.parts()}


Changes = dict[UUID, dict[str, Any]]
LinkKey = tuple[UUID, UUID, LinkKind]
_WORDING = frozenset({"content", "predicate", "object_text"})


@dataclass(frozen=True, slots=True)
class Takings:
    """What a rollback took back beside the values of memories, by identifier: from this its undo restores it."""

    origins: Mapping[UUID, tuple[UUID, ...]]  # memory to turns
    links: tuple[LinkKey, ...] = ()
    entities: tuple[UUID, ...] = ()
    mentions: Mapping[UUID, int] = field(default_factory=dict)  # entity to how many were taken back
    records: tuple[UUID, ...] = ()  # changes of names
    given_back: tuple[UUID, ...] = ()  # those of descriptions that went back to the entity


@dataclass(frozen=True, slots=True)
class RollbackPlan:
    """What is to be written for one end user, what that takes back, and what is left alone."""

    plan: WritePlan
    takings: Takings
    kept: tuple[Kept, ...] = ()


def plan_rollback(
    history: UserHistory, *, traces: Set[UUID], forced: Set[UUID], policy: ConfidencePolicy
) -> RollbackPlan:
    """Plan to take back what traces wrote.

    1. Each memory loses what the traces did to it; what only they say is retracted.
    2. What a retracted memory had closed is as it was before.
    3. What becomes live again finds its place among the live memories.
    4. Links, entities and names that only the traces brought go with them.
    """
    inverses = {
        each.memory.id: without_traces(each, traces=traces, forced=each.memory.id in forced, policy=policy)
        for each in history.memories
    }
    changes = {memory_id: each.changes for memory_id, each in inverses.items()}
    origins = {memory_id: each.turn_ids for memory_id, each in inverses.items() if each.turn_ids}
    kept = [each.kept for each in inverses.values() if each.kept]
    retracted = {key for key, values in changes.items() if values.get("status") is Status.RETRACTED}
    left_alone = {each.memory_id for each in kept if each.reason is LeftAlone.EDITED}
    for each in history.memories:
        if not changes[each.memory.id] and each.memory.id not in left_alone:
            changes[each.memory.id] = without_closing(each, closed_by=retracted)
    settlement = _Settlement(history, changes)
    gone = retracted | {each.memory.id for each in history.memories if each.memory.status in CLOSED_AS_WRONG}
    own = [record.id for each in history.entities for record in each.records if record.trace_id in traces]
    # What only these traces brought, and no memory refers to but those that are gone.
    unused = [
        each.entity.id
        for each in history.entities
        if not each.stays
        and {each.entity.added_by, *(record.trace_id for record in each.records)} <= traces
        and history.referring.get(each.entity.id, frozenset()) <= gone
    ]
    takings = Takings(
        origins,
        links=tuple(_key(each) for each in history.links if each.trace_id in traces and each.status == LinkStatus.OPEN),
        entities=tuple(unused),
        mentions=_mentions(history, origins),
        records=tuple(own),
        given_back=tuple(each for each in own if each in history.given_back),
    )
    operations: list[Operation] = [
        *_entity_operations(history, takings, is_undo=False),
        *settlement.revisions(verb=ROLLED_BACK),
        *(MarkOrigins(memory_id, turn_ids, withdrawn=True) for memory_id, turn_ids in origins.items()),
        *(SetLinkStatus(*each, LinkStatus.SETTLED, resolution=ROLLED_BACK) for each in takings.links),
    ]
    kept += [*settlement.kept, *_built_upon(history, traces, retracted)]
    kept += [Kept(None, LeftAlone.REPEATED, trace_id=each) for each in history.repeats]
    return RollbackPlan(WritePlan(tuple(operations)), takings, tuple(dict.fromkeys(kept)))


def plan_undo(history: UserHistory, *, rollback_id: UUID, takings: Takings) -> RollbackPlan:
    """Plan to undo a rollback; what was changed since is left alone.

    The links of the history are those that the rollback closed and that are still closed, its entities those that it
    touched, with the records that it withdrew.
    """
    inverses = {each.memory.id: without_rollback(each, rollback_id=rollback_id) for each in history.memories}
    settlement = _Settlement(history, {memory_id: each.changes for memory_id, each in inverses.items()})
    kept = [*(each.kept for each in inverses.values() if each.kept), *settlement.kept]
    restored = inverses.keys() - {each.memory_id for each in kept}
    operations: list[Operation] = [
        *_entity_operations(history, takings, is_undo=True),
        *settlement.revisions(verb=ROLLBACK_UNDONE),
        *(MarkOrigins(key, turns, withdrawn=False) for key, turns in takings.origins.items() if key in restored),
        *(SetLinkStatus(*_key(each), LinkStatus.OPEN) for each in history.links),
    ]
    return RollbackPlan(WritePlan(tuple(operations)), takings, tuple(dict.fromkeys(kept)))


def _mentions(history: UserHistory, taken: Mapping[UUID, Sequence[UUID]]) -> Counter[UUID]:
    """Count how many traces mention an entity by what is taken: memory to the turns that say it no more."""
    mentioned = {
        (entity, origin.trace_id)
        for each in history.memories
        for origin in each.origins
        if origin.turn_id in taken.get(each.memory.id, ())
        for entity in each.entity_ids
    }
    return Counter(entity for entity, _ in mentioned)


def _entity_operations(history: UserHistory, takings: Takings, *, is_undo: bool) -> Iterator[Operation]:
    """Yield the operations that take back entities, mentions and names, or restore them."""
    sign = 1 if is_undo else -1
    for each in history.entities:
        key = each.entity.id
        taken = [record for record in each.records if record.id in takings.records]
        name, mentions = _name(each, taken, is_undo), sign * takings.mentions.get(key, 0)
        withdrawn = not is_undo if key in takings.entities else None
        if name or mentions or withdrawn is not None:
            yield ReviseEntity(key, mentions=mentions, name=name, withdrawn=withdrawn)
        uses: Counter[tuple[str, str]] = Counter()
        for record in taken:
            if record.kind == EntityChangeKind.NAMED:
                uses[record.folded, record.alias] += 1
            elif record.id in takings.given_back:
                uses[record.folded, record.alias] -= record.uses
        yield from (CountAlias(key, alias=alias, uses=sign * count) for (_, alias), count in uses.items() if count)
    if takings.records:
        yield MarkEntityChanges(takings.records, withdrawn=not is_undo)


def _name(each: EntityHistory, taken: Sequence[EntityChange], is_undo: bool) -> str | None:
    """Return the name before some renamings, or with them again; None where it stays as it is."""
    name = each.entity.name
    renamings = [record for record in each.records if record.kind == EntityChangeKind.RENAMED]
    if is_undo:
        for record in renamings:
            name = record.alias if record in taken and record.former == name else name
    else:
        for record in reversed(renamings):
            if record not in taken or record.alias != name:
                break
            name = record.former
    return name if name != each.entity.name else None


class _Settlement:
    """The planned changes of memories, in which each that becomes live has its place among the live ones."""

    def __init__(self, history: UserHistory, changes: Changes) -> None:
        self.changes = {memory_id: dict(values) for memory_id, values in changes.items() if values}
        self.before = {each.id: each for each in history.live} | {
            each.memory.id: each.memory for each in history.memories
        }
        self.kept: list[Kept] = []
        self._live = {
            memory_id: after
            for memory_id, memory in self.before.items()
            if memory.status in LIVE_STATUSES and (after := self._after(memory_id)).status in LIVE_STATUSES
        }
        opened = [each for each in map(self._after, self.changes) if each.status in LIVE_STATUSES]
        for memory in sorted(opened, key=lambda each: (each.said_at, each.id)):
            others = [each for each in self._live.values() if each.id != memory.id]
            was_live = memory.id in self._live
            twin = None if was_live else duplicate_of(memory, others)
            if twin is not None:  # it stays closed
                if self.before[memory.id].status is Status.RETRACTED:
                    del self.changes[memory.id]
                else:
                    self.changes[memory.id] |= {"status": Status.MERGED, "superseded_by_id": twin.id}
                self.kept.append(Kept(memory.id, LeftAlone.SAID_AGAIN))
                continue
            hashes = {(each.private_to, each.canonical_hash) for each in others}
            if (memory.private_to, memory.canonical_hash) in hashes:
                self._change(memory.id, {"canonical_hash": salted_hash(memory.canonical_hash, memory_id=memory.id)})
            if was_live:
                continue
            if memory.status is Status.ACTIVE:
                live = list(self._live.values())
                self.changes[memory.id], closed = in_slot(self._after(memory.id), self.changes[memory.id], live=live)
                for closing in closed:
                    ended = {**closing.changes(now=timezone.now()), "superseded_by_id": memory.id}
                    self._change(closing.memory_id, ended)
            self._change(memory.id, {})

    def revisions(self, *, verb: str) -> Iterator[Operation]:
        """Yield the revisions, and the indexing of what gets other words or is live again."""
        for memory_id, values in self.changes.items():
            before = self.before[memory_id]
            yield ReviseMemory(memory_id, expected_version=before.version, verb=verb, changes=values)
            becomes_live = values.get("status") in LIVE_STATUSES and before.status not in LIVE_STATUSES
            if becomes_live or not _WORDING.isdisjoint(values):
                yield EnqueueWork(WorkKind.INDEX_MEMORY, memory_id)

    def _change(self, memory_id: UUID, values: Mapping[str, Any]) -> None:
        self.changes.setdefault(memory_id, {}).update(values)
        self._live.pop(memory_id, None)
        after = self._after(memory_id)
        if after.status in LIVE_STATUSES:
            self._live[memory_id] = after

    def _after(self, memory_id: UUID) -> StoredMemory:
        """Return a memory as it is with the changes."""
        return self.before[memory_id].evolve(**read_columns(self.changes.get(memory_id, {})))


def _built_upon(history: UserHistory, traces: Set[UUID], retracted: Set[UUID]) -> Iterator[Kept]:
    """Yield the live memories that other traces have linked to a memory that is gone now."""
    live = {each.id for each in history.live} - retracted
    for link in history.links:
        ends = {link.from_memory_id, link.to_memory_id}
        if link.trace_id not in traces and ends & retracted:
            yield from (Kept(each, LeftAlone.BUILT_UPON) for each in sorted(ends & live))


def _key(link: MemoryLink) -> LinkKey:
    return link.from_memory_id, link.to_memory_id, LinkKind(link.kind)
