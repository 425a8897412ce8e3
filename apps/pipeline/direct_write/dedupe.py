"""How memories that a caller stores meet what is live: nothing is known twice, and a slot has one value."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from uuid import UUID

from apps.pipeline.core.canonical import hash_apart
from apps.pipeline.core.draft import KnownMemory
from apps.pipeline.core.enums import LIVE_STATUSES, Reason, Status, WorkKind
from apps.pipeline.core.memory_conversion import as_stored
from apps.pipeline.core.operations import AddMemory, Operation, OweWork, ReviseMemory, SupersedeMemory
from apps.pipeline.core.policy import Policy
from apps.pipeline.deduplication.difference_checks import precision_of
from apps.pipeline.direct_write.conflicts import end_before, place_in_slot, twin_of


@dataclass(frozen=True, slots=True)
class Storing:
    """What becomes of one memory: a new one, or none where another says it already."""

    memory_id: UUID  # of the memory that says it
    adds: AddMemory | None = None
    asks: Reason | None = None  # why a person has to look at it


class StoringDesk:
    """The memories of one request, settled one after the other; built for one request and thrown away after it."""

    def __init__(self, *, known: Iterable[KnownMemory], policy: Policy) -> None:
        self._live = {each.id: each for each in known}
        # Of what is closed as well: it is closed only after the new ones are added.
        self._hashes = {each.canonical_hash for each in self._live.values()}
        self._slack = policy.conflict.confidence_slack
        self.changes: list[Operation] = []  # of memories that are known, or added by this request

    def settle(self, add: AddMemory) -> Storing:
        """Settle a memory against all that is live by then; what is not live itself meets nobody."""
        if add.status not in LIVE_STATUSES:
            return Storing(add.memory_id, adds=add)
        memory = as_stored(add)
        if twin := twin_of(memory, self._live.values()):
            self._word_better(twin, memory)
            return Storing(twin.id)
        if add.canonical_hash in self._hashes:
            add = replace(add, canonical_hash=hash_apart(add.canonical_hash, memory_id=add.memory_id))
        storing = self._placed(add, memory) if add.status is Status.ACTIVE else _asking(add, Reason.LOW_CONFIDENCE)
        if storing.adds and storing.adds.status in LIVE_STATUSES:
            self._live[add.memory_id] = as_stored(storing.adds)
            self._hashes.add(add.canonical_hash)
        return storing

    def _word_better(self, twin: KnownMemory, memory: KnownMemory) -> None:
        """Let the wording win that tells more; the other stays in the history."""
        if precision_of(memory.content) <= precision_of(twin.content):
            return
        self._live[twin.id] = replace(twin, content=memory.content)
        changes = {"content": memory.content}
        self.changes.append(ReviseMemory(twin.id, twin.version, verb="merged", changes=changes))
        self.changes.append(OweWork(kind=WorkKind.INDEX_MEMORY, memory_id=twin.id))

    def _placed(self, add: AddMemory, memory: KnownMemory) -> Storing:
        place = place_in_slot(memory, self._live.values())
        if place.heir:
            ends = end_before(place.heir, memory)
            late = replace(add, status=Status.SUPERSEDED, superseded_by=place.heir.id, valid_until=ends)
            return Storing(add.memory_id, adds=late)
        if any(memory.confidence < each.confidence - self._slack for each in place.closes):
            return _asking(replace(add, status=Status.PENDING_REVIEW), Reason.WEAKER_EVIDENCE)
        for each in place.closes:
            del self._live[each.id]
            self.changes.append(closing(each, heir=memory))
        return Storing(add.memory_id, adds=add)


def closing(memory: KnownMemory, *, heir: KnownMemory) -> SupersedeMemory:
    """Return what closes a value for its heir."""
    return SupersedeMemory(
        memory_id=memory.id,
        expected_version=memory.version,
        superseded_by=heir.id,
        valid_until=end_before(heir, memory),
    )


def _asking(add: AddMemory, reason: Reason) -> Storing:
    return Storing(add.memory_id, adds=add, asks=reason)
