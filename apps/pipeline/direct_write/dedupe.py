"""Deduplication of memories that callers store: nothing is stored twice, and a slot has one value."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from apps.pipeline.core.agent_scope import with_source
from apps.pipeline.core.canonical import salted_hash
from apps.pipeline.core.enums import LIVE_STATUSES, Reason, Status, WorkKind
from apps.pipeline.core.memory_conversion import as_stored
from apps.pipeline.core.operations import AddMemory, EnqueueWork, Operation, ReviseMemory, SupersedeMemory
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.ports import MemoryReader, Slot
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.deduplication.guard import precision_of
from apps.pipeline.direct_write.conflicts import SlotPlacement, duplicate_of, end_before, placement_in_slot, takes_slot
from apps.pipeline.direct_write.orders import is_order
from apps.pipeline.direct_write.trust import is_vouched_for
from apps.pipeline.provenance.orders import looks_injected


def _read_shared_with(
    memories: Sequence[StoredMemory], *, private_to: str, end_user_id: UUID, reader: MemoryReader
) -> tuple[StoredMemory, ...]:
    duplicates = reader.duplicates(
        end_user_id=end_user_id,
        hashes=[each.canonical_hash for each in memories],
        contents=[each.content for each in memories],
        private_to=private_to,
    )
    slots = [
        Slot(subject_id=each.subject_id, predicate=each.predicate)
        for each in memories
        if each.subject_id is not None and takes_slot(each)
    ]
    holders = reader.holders(end_user_id=end_user_id, slots=slots, private_to=private_to)
    return (*duplicates, *holders)


def read_met(memories: Sequence[StoredMemory], *, end_user_id: UUID, reader: MemoryReader) -> tuple[StoredMemory, ...]:
    """Read the live memories that new ones can duplicate or replace, for each agent that has private ones."""
    found: dict[UUID, StoredMemory] = {}
    for private_to in dict.fromkeys(each.private_to for each in memories):
        apart = [each for each in memories if each.private_to == private_to]
        met = _read_shared_with(apart, private_to=private_to, end_user_id=end_user_id, reader=reader)
        found |= {each.id: each for each in met}
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class StoreResult:
    """The outcome for one memory: a new one, or none if another one says it already."""

    memory_id: UUID  # of the memory that says it
    adds: AddMemory | None = None
    asks: Reason | None = None  # why a person has to review it


class DirectWriteSession:
    """The memories of one request, settled one after the other; created for one request and discarded after it."""

    def __init__(
        self,
        *,
        known: Iterable[StoredMemory],
        policy: Policy,
        is_trusted: bool = True,
        may_replace: bool = True,
        retracted: Collection[StoredMemory] = (),
    ) -> None:
        """Take the live memories that are met, and of a caller without trust the retracted ones in the same slots."""
        self._live = {each.id: each for each in known}
        # Includes the hashes of memories to be closed: they are closed only after the new ones are added.
        self._hashes = {(each.private_to, each.canonical_hash) for each in self._live.values()}
        self._slack = policy.conflict.confidence_slack
        self._review_below = policy.confidence.review_below
        self._is_trusted = is_trusted
        self._may_replace = may_replace
        # As they were before they were retracted, so that a value in their place is found.
        self._vouched_for = tuple(replace(each, status=Status.ACTIVE) for each in retracted if is_vouched_for(each))
        self.changes: list[Operation] = []  # of known memories, and of those that this request adds

    def settle(self, add: AddMemory) -> StoreResult:
        """Settle a memory against all that is live by then; a memory that is not live itself is not compared."""
        if add.status not in LIVE_STATUSES:
            return StoreResult(add.memory_id, adds=add)
        memory = as_stored(add)
        is_suspected = looks_injected(memory.content)
        duplicate = None if is_suspected else duplicate_of(memory, self._live.values())
        if duplicate:
            self._word_better(duplicate, memory)
            self._add_source(self._live[duplicate.id], memory)
            return StoreResult(duplicate.id)
        if (add.private_to, add.canonical_hash) in self._hashes:
            add = replace(add, canonical_hash=salted_hash(add.canonical_hash, memory_id=add.memory_id))
        storing = _suspected(add) if is_suspected else self._judged(add, memory)
        if storing.adds and storing.adds.status in LIVE_STATUSES:
            self._live[add.memory_id] = as_stored(storing.adds)
            self._hashes.add((add.private_to, add.canonical_hash))
        return storing

    def _word_better(self, duplicate: StoredMemory, memory: StoredMemory) -> None:
        """Use the wording that says more; the other one stays in the history."""
        if not self._may_replace or precision_of(memory.content) <= precision_of(duplicate.content):
            return
        if not self._is_trusted and is_vouched_for(duplicate):
            return
        self._live[duplicate.id] = replace(duplicate, content=memory.content)
        changes = {"content": memory.content}
        self.changes.append(ReviseMemory(duplicate.id, duplicate.version, verb="merged", changes=changes))
        self.changes.append(EnqueueWork(kind=WorkKind.INDEX_MEMORY, memory_id=duplicate.id))

    def _add_source(self, duplicate: StoredMemory, memory: StoredMemory) -> None:
        """Record who else tells a known memory."""
        changes = with_source(first=duplicate.source, further=duplicate.further_sources, told=memory.source)
        if not changes:
            return
        self._live[duplicate.id] = replace(duplicate, **changes)
        columns = {name: list(value) if name == "further_sources" else value for name, value in changes.items()}
        self.changes.append(ReviseMemory(duplicate.id, duplicate.version, verb="merged", changes=columns))

    def _judged(self, add: AddMemory, memory: StoredMemory) -> StoreResult:
        """Send uncertain memories to review, and rules for agents from a caller without trust."""
        if add.status is not Status.ACTIVE:
            is_unsure = memory.confidence < self._review_below  # else the caller asked for the review
            return _asking(add, Reason.LOW_CONFIDENCE) if is_unsure else StoreResult(add.memory_id, adds=add)
        if not self._is_trusted and is_order(add.candidate):
            return _asking(replace(add, status=Status.PENDING_REVIEW), Reason.LESS_TRUSTED)
        return self._placed(add, memory)

    def _placed(self, add: AddMemory, memory: StoredMemory) -> StoreResult:
        place = placement_in_slot(memory, self._live.values())
        if place.successor:
            ends = end_before(place.successor, memory)
            late = replace(add, status=Status.SUPERSEDED, superseded_by=place.successor.id, valid_until=ends)
            return StoreResult(add.memory_id, adds=late)
        if any(memory.confidence < each.confidence - self._slack for each in place.closes):
            return _asking(replace(add, status=Status.PENDING_REVIEW), Reason.WEAKER_EVIDENCE)
        if (place.closes and not self._may_replace) or self._lacks_trust(memory, place):
            return _asking(replace(add, status=Status.PENDING_REVIEW), Reason.LESS_TRUSTED)
        for each in place.closes:
            del self._live[each.id]
            self.changes.append(closing(each, successor=memory))
        return StoreResult(add.memory_id, adds=add)

    def _lacks_trust(self, memory: StoredMemory, place: SlotPlacement) -> bool:
        """Return True for a value in place of what a user said or a person approved, retracted just before or not."""
        if self._is_trusted:
            return False
        return any(map(is_vouched_for, place.closes)) or bool(placement_in_slot(memory, self._vouched_for).closes)


def closing(memory: StoredMemory, *, successor: StoredMemory) -> SupersedeMemory:
    """Return the operation that closes a value for its successor."""
    return SupersedeMemory(
        memory_id=memory.id,
        expected_version=memory.version,
        superseded_by=successor.id,
        valid_until=end_before(successor, memory),
    )


def _asking(add: AddMemory, reason: Reason) -> StoreResult:
    return StoreResult(add.memory_id, adds=add, asks=reason)


def _suspected(add: AddMemory) -> StoreResult:
    return _asking(replace(add, status=Status.PENDING_REVIEW), Reason.SUSPECTED_INJECTION)
