"""Memories that become live again: no two live ones say the same, and a slot holds the value said last."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.actions.rollbacks.history import Kept
from apps.actions.rollbacks.memories import ReadColumns
from apps.pipeline.conflict.slots import duplicate_of, in_slot
from apps.pipeline.core.canonical import salted_hash
from apps.pipeline.core.enums import LIVE_STATUSES, LeftAlone, Status
from apps.pipeline.core.statement import StoredMemory

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
