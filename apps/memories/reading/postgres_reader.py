"""The reading port on PostgreSQL, filtered by end user first."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from functools import reduce
from math import inf
from operator import or_
from typing import Any
from uuid import UUID

from django.contrib.postgres.aggregates import ArrayAgg
from django.contrib.postgres.expressions import ArraySubquery
from django.db import transaction
from django.db.models import Case, Exists, F, FilteredRelation, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import JSONObject, Length, Lower, StrIndex, TruncDate
from pgvector import HalfVector
from pgvector.django import MaxInnerProduct

from apps.memories.codec import STORED_COLUMNS, read_columns
from apps.memories.models import Entity, EntityAlias, Memory, MemoryOrigin, MemoryVector
from apps.memories.querysets import MemoryQuerySet
from apps.memories.reading.relevance import LiveMemory, most_relevant
from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import LIVE_STATUSES, EntityType, Status
from apps.pipeline.core.ports import Neighbour, Probe, RelevanceQuery, Slot, Vector
from apps.pipeline.core.statement import NOTE_EXTRACTOR, StoredMemory

# To build a query takes longer than to run it, so what is always the same is built once.
_ENTITIES = (
    Entity.objects.standing()
    .annotate(
        names=ArrayAgg(
            "aliases__alias",
            filter=Q(aliases__withdrawn=False),
            order_by=("-aliases__count", "aliases__created_at", "aliases__folded"),
            default=Value([]),
        )
    )
    .order_by("-is_user", "-last_mentioned_at", "id")
)
_ORIGINS = MemoryOrigin.objects.standing().filter(end_user_id=OuterRef("end_user_id"), memory_id=OuterRef("pk"))
_SAID = JSONObject(session="session_id", day=TruncDate("said_at", tzinfo=UTC))
# The columns of memories, with the sessions and days in which they were stated.
_STORED = Memory.objects.annotate(said_in=ArraySubquery(_ORIGINS.order_by().values(said=_SAID).distinct())).values(
    *STORED_COLUMNS, "end_user_id", "said_in"
)


class PostgresMemoryReader:
    """Reads what is known about one end user from the tables.

    Live memories are read without `notes`: notes that are read again, so that no statement of their messages counts as
    known already. A note that is asked for by its identifier is still found.
    """

    def __init__(self, *, notes: Collection[UUID] = ()) -> None:
        self._notes = frozenset(notes)

    def entities(self, *, end_user_id: UUID, limit: int) -> tuple[KnownEntity, ...]:
        """Return entities with their aliases, the user first, then the most recently mentioned."""
        return tuple(
            KnownEntity(
                id=row.id,
                name=row.name,
                type=EntityType(row.type),
                is_user=row.is_user,
                mention_count=row.mention_count,
                last_mentioned_at=row.last_mentioned_at,
                aliases=tuple(row.names),
            )
            for row in _ENTITIES.filter(end_user_id=end_user_id)[:limit]
        )

    def all_if_few(
        self, *, end_user_id: UUID, entities: int, memories: int, private_to: str = ""
    ) -> tuple[tuple[KnownEntity, ...], tuple[StoredMemory, ...] | None]:
        """Return entities as above, and all live memories, or None."""
        live = self._live(end_user_id, private_to, _STORED).order_by("-id")
        with transaction.atomic():
            known, found = self.entities(end_user_id=end_user_id, limit=entities), _stored(live[: memories + 1])
        return known, found if len(found) <= memories else None

    def relevant(self, *, query: RelevanceQuery, memories: int) -> tuple[StoredMemory, ...]:
        """Return live memories, the most relevant first."""
        live = self._live(query.end_user_id, query.private_to)
        vectors = MemoryVector.objects.filter(end_user_id=query.end_user_id, embedder=query.embedder)
        is_indexed = Exists(vectors.filter(memory=OuterRef("pk")))
        rows = live.values_list("id", "subject_id", "session_id", "created_at", "event_at", "content", is_indexed)
        near = [
            vectors.filter(memory__in=live)
            .annotate(number=Value(number), product=_product("embedding", sentence))
            .order_by("product", "memory_id")
            .values_list("number", "product", "memory_id")[:memories]
            for number, sentence in enumerate(query.vectors)
        ]
        nearest: list[list[UUID]] = [[] for _ in near]
        if near:
            for number, _, memory_id in sorted(near[0].union(*near[1:], all=True)):
                nearest[number].append(memory_id)
        aliases = EntityAlias.objects.filter(end_user_id=query.end_user_id, withdrawn=False).annotate(
            length=Length("alias"), place=StrIndex(Value(query.text.lower()), Lower("alias"))
        )
        ids = most_relevant(
            live=[LiveMemory(*row) for row in rows],
            query=query,
            nearest=nearest,
            named=set(aliases.filter(length__gt=2, place__gt=0).values_list("entity_id", flat=True)),
            most=memories,
        )
        found = {each.id: each for each in self.several(end_user_id=query.end_user_id, ids=ids)}
        return tuple(found[memory_id] for memory_id in ids if memory_id in found)

    def neighbours(
        self, *, end_user_id: UUID, embedder: str, probes: Sequence[Probe], limit: int, private_to: str = ""
    ) -> list[list[Neighbour]]:
        """Return, for each probe, live memories: its hash or sentence, those without vectors, the nearest."""
        if not probes:
            return []
        same_embedder = FilteredRelation("vectors", condition=Q(vectors__embedder=embedder))
        live = self._live(end_user_id, private_to).annotate(vector=same_embedder)
        near = []
        for number, probe in enumerate(probes):
            same_hash = When(canonical_hash=probe.canonical_hash, then=0)
            by_closeness = live.annotate(
                number=Value(number),
                sameness=Case(same_hash, When(content=probe.content, then=1), default=2),
                product=_product("vector__embedding", probe.vector),
            ).order_by("sameness", F("product").asc(nulls_first=True), "id")
            near.append(by_closeness.values_list("number", "sameness", "product", "id")[:limit])
        rows = list(near[0].union(*near[1:], all=True))
        memories = self.several(end_user_id=end_user_id, ids={memory_id for _, _, _, memory_id in rows})
        by_id = {each.id: each for each in memories}
        found: list[list[Neighbour]] = [[] for _ in probes]
        # A memory without a vector comes before the nearest.
        rows.sort(key=lambda row: (*row[:2], -inf if row[2] is None else row[2], row[3]))
        for number, _, product, memory_id in rows:
            if memory_id in by_id:
                cosine = None if product is None else -product
                found[number].append(Neighbour(memory=by_id[memory_id], cosine=cosine))
        return found

    def holders(
        self, *, end_user_id: UUID, slots: Sequence[Slot], ids: Sequence[UUID] = (), private_to: str = ""
    ) -> tuple[StoredMemory, ...]:
        """Return live memories that hold one of the slots or have one of the identifiers, in the order said."""
        probe = HolderProbe(end_user_id=end_user_id, slots=tuple(slots), ids=tuple(ids), private_to=private_to)
        return tuple(
            each for each in holders_of_several(probes=[probe])[0] if each.id in ids or each.id not in self._notes
        )

    def duplicates(
        self, *, end_user_id: UUID, hashes: Sequence[str], contents: Sequence[str], private_to: str = ""
    ) -> tuple[StoredMemory, ...]:
        """Return live memories with one of the hashes or wordings, in the order in which they were said."""
        same = Q(canonical_hash__in=hashes) | Q(content__in=contents)
        return _stored(self._live(end_user_id, private_to, _STORED).filter(same).order_by("said_at", "id"))

    def several(self, *, end_user_id: UUID, ids: Iterable[UUID]) -> tuple[StoredMemory, ...]:
        """Return the memories with one of the identifiers, live or not."""
        return _stored(_STORED.for_end_user(end_user_id).filter(id__in=list(ids)).order_by("id"))

    def live(self, *, end_user_id: UUID) -> tuple[StoredMemory, ...]:
        """Return all live memories of an end user."""
        return _stored(_STORED.for_end_user(end_user_id).live().order_by("id"))

    def one(self, *, end_user_id: UUID, memory_id: UUID) -> StoredMemory:
        """Return a memory, live or not. Raises LookupError if the end user has no such memory."""
        found = self.several(end_user_id=end_user_id, ids=[memory_id])
        if not found:
            raise LookupError(f"there is no memory {memory_id}")
        return found[0]

    def _live(self, end_user_id: UUID, private_to: str, memories: MemoryQuerySet | None = None) -> MemoryQuerySet:
        read = Memory.objects.all() if memories is None else memories
        live = read.for_end_user(end_user_id).live().filter(private_to=private_to).order_by()
        return live.exclude(id__in=self._notes) if self._notes else live


@dataclass(frozen=True, slots=True)
class HolderProbe:
    """Which memories of one end user are wanted: the holders of slots, and those with identifiers."""

    end_user_id: UUID
    slots: tuple[Slot, ...]
    ids: tuple[UUID, ...]
    private_to: str = ""

    def condition(self) -> Q:
        """Return the condition of the wanted memories; without slots and identifiers none."""
        slots = (Q(subject_id=slot.subject_id, predicate=slot.predicate) for slot in set(self.slots))
        wanted = reduce(or_, slots, Q(id__in=self.ids))
        return Q(wanted, end_user_id=self.end_user_id, private_to=self.private_to)

    def wants(self, row: Mapping[str, Any]) -> bool:
        """Return True if a live memory meets the condition."""
        is_wanted = row["id"] in self.ids or Slot(row["subject_id"], row["predicate"]) in self.slots
        return is_wanted and row["end_user_id"] == self.end_user_id and row["private_to"] == self.private_to


def holders_of_several(*, probes: Sequence[HolderProbe]) -> list[tuple[StoredMemory, ...]]:
    """Return for each probe, of any end users, what `holders` of the reader returns; one statement."""
    if not any(probe.slots or probe.ids for probe in probes):
        return [() for _ in probes]
    wanted = reduce(or_, (probe.condition() for probe in probes))
    rows = list(_STORED.live().filter(wanted).order_by("said_at", "id"))
    return [tuple(_stored_memory(row) for row in rows if probe.wants(row)) for probe in probes]


def _stored(rows: MemoryQuerySet) -> tuple[StoredMemory, ...]:
    return tuple(map(_stored_memory, rows))


def _stored_memory(row: dict[str, Any]) -> StoredMemory:
    said_in = sorted((each["session"], each["day"]) for each in row["said_in"])
    return StoredMemory(origins=tuple(said_in), **read_columns(row))


def _product(column: str, vector: Vector) -> MaxInnerProduct:
    """Return the negated inner product, which is the negated cosine of unit vectors."""
    return MaxInnerProduct(column, HalfVector(list(vector)))


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
