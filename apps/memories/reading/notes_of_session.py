"""The notes of a session: what is read again once there is a model, and what is not."""

from collections.abc import Collection, Sequence
from uuid import UUID

from django.db.models import QuerySet

from apps.memories.models import MemoryOrigin
from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import LIVE_STATUSES, Status
from apps.pipeline.core.ports import MemoryReader, Neighbour, Probe, RelevanceQuery, Slot
from apps.pipeline.core.statement import NOTE_EXTRACTOR, StoredMemory


def notes_of_session(*, end_user_id: UUID, session_id: UUID) -> tuple[tuple[UUID, UUID], ...]:
    """Return the live notes of a session, each with a turn that it quotes: (turn, note)."""
    origins = _origins(end_user_id, session_id).filter(
        withdrawn=False, memory__extractor=NOTE_EXTRACTOR, memory__status__in=sorted(LIVE_STATUSES)
    )
    return tuple(origins.order_by("said_at", "id").values_list("turn_id", "memory_id"))


def retracted_turns(*, end_user_id: UUID, session_id: UUID) -> frozenset[UUID]:
    """Return the turns of a session of which a memory was retracted: reading them again would bring it back."""
    retracted = _origins(end_user_id, session_id).filter(memory__status=Status.RETRACTED)
    return frozenset(retracted.values_list("turn_id", flat=True))


def _origins(end_user_id: UUID, session_id: UUID) -> QuerySet[MemoryOrigin]:
    return MemoryOrigin.objects.filter(end_user_id=end_user_id, session_id=session_id)


class WithoutNotes:
    """Reads what is known except some notes, so that no statement of their messages counts as known already.

    A note that is asked for by its identifier is still found.
    """

    def __init__(self, within: MemoryReader, *, notes: Collection[UUID]) -> None:
        self._within, self._notes = within, frozenset(notes)

    def duplicates(
        self, *, end_user_id: UUID, hashes: Sequence[str], contents: Sequence[str], private_to: str = ""
    ) -> tuple[StoredMemory, ...]:
        """Return live memories with one of the hashes or wordings, in the order in which they were said."""
        return self._others(
            self._within.duplicates(end_user_id=end_user_id, hashes=hashes, contents=contents, private_to=private_to)
        )

    def one(self, *, end_user_id: UUID, memory_id: UUID) -> StoredMemory:
        """Return a memory, live or not. Raises LookupError if the end user has no such memory."""
        return self._within.one(end_user_id=end_user_id, memory_id=memory_id)

    def entities(self, *, end_user_id: UUID, limit: int) -> tuple[KnownEntity, ...]:
        """Return entities with their aliases, the most recently mentioned first."""
        return self._within.entities(end_user_id=end_user_id, limit=limit)

    def all_if_few(
        self, *, end_user_id: UUID, entities: int, memories: int, private_to: str = ""
    ) -> tuple[tuple[KnownEntity, ...], tuple[StoredMemory, ...] | None]:
        """Return entities, and all live memories if they are few."""
        known, few = self._within.all_if_few(
            end_user_id=end_user_id, entities=entities, memories=memories, private_to=private_to
        )
        return known, None if few is None else self._others(few)

    def relevant(self, *, query: RelevanceQuery, memories: int) -> tuple[StoredMemory, ...]:
        """Return live memories, the most relevant first."""
        return self._others(self._within.relevant(query=query, memories=memories))

    def neighbours(
        self, *, end_user_id: UUID, embedder: str, probes: Sequence[Probe], limit: int, private_to: str = ""
    ) -> list[list[Neighbour]]:
        """Return similar live memories for each probe."""
        found = self._within.neighbours(
            end_user_id=end_user_id, embedder=embedder, probes=probes, limit=limit, private_to=private_to
        )
        return [[each for each in near if each.memory.id not in self._notes] for near in found]

    def holders(
        self, *, end_user_id: UUID, slots: Sequence[Slot], ids: Sequence[UUID] = (), private_to: str = ""
    ) -> tuple[StoredMemory, ...]:
        """Return live memories that fill one of the slots or have one of the identifiers."""
        found = self._within.holders(end_user_id=end_user_id, slots=slots, ids=ids, private_to=private_to)
        return tuple(each for each in found if each.id in ids or each.id not in self._notes)

    def _others(self, memories: Sequence[StoredMemory]) -> tuple[StoredMemory, ...]:
        return tuple(each for each in memories if each.id not in self._notes)
