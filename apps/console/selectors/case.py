"""Everything that there is to know for a decision about one memory, in a bounded number of queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q
from pgvector.django import MaxInnerProduct

from apps.console.selectors.compared import Compared, compared
from apps.console.selectors.history import Past, history_of
from apps.memories.models import Memory, MemoryLink, MemoryOrigin, MemoryVector
from apps.pipeline.core.enums import LinkStatus
from apps.traces.models import Turn

TURNS_AROUND = 2
MOST_ORIGINS = 5
MOST_SIMILAR = 5
LEAST_SIMILAR = 0.5  # cosine; what is farther away helps nobody to decide


@dataclass(frozen=True, slots=True)
class SourceTurns:
    """One quote with the turns around it."""

    origin: MemoryOrigin
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Similar:
    """A live memory that says something close."""

    memory: Memory
    cosine: float


@dataclass(frozen=True, slots=True)
class Linked:
    """A memory that it can't be true with, or may repeat."""

    link: MemoryLink
    memory: Memory
    compared: Compared | None  # where stage 4 has compared the two


@dataclass(frozen=True, slots=True)
class Case:
    """All that there is to know for a decision about one memory."""

    memory: Memory
    sources: tuple[SourceTurns, ...]
    links: tuple[Linked, ...]
    similar: tuple[Similar, ...]
    history: tuple[Past, ...]


def case_of(memory: Memory) -> Case:
    """Read what a decision needs, in a bounded number of queries."""
    return Case(
        memory=memory,
        sources=sources_of(memory),
        links=_links(memory),
        similar=_similar(memory),
        history=history_of(memory),
    )


def sources_of(memory: Memory) -> tuple[SourceTurns, ...]:
    """Return the latest quotes of a memory, each with the turns around it (two queries)."""
    origins = MemoryOrigin.objects.filter(end_user_id=memory.end_user_id, memory=memory).select_related(
        "turn", "session"
    )
    latest = list(origins.order_by("-said_at")[:MOST_ORIGINS])
    around = _around(memory.end_user_id, [origin.turn for origin in latest])
    return tuple(
        SourceTurns(origin=origin, turns=tuple(turn for turn in around if _is_near(turn, origin.turn)))
        for origin in latest
    )


def _around(end_user_id: UUID, turns: Sequence[Turn]) -> list[Turn]:
    if not turns:
        return []
    wanted = Q()
    for turn in turns:
        places = (turn.position - TURNS_AROUND, turn.position + TURNS_AROUND)
        wanted |= Q(session_id=turn.session_id, position__range=places)
    return list(Turn.objects.filter(wanted, end_user_id=end_user_id).order_by("session_id", "position"))


def _is_near(turn: Turn, quoted: Turn) -> bool:
    return turn.session_id == quoted.session_id and abs(turn.position - quoted.position) <= TURNS_AROUND


def _links(memory: Memory) -> tuple[Linked, ...]:
    links = MemoryLink.objects.filter(
        Q(from_memory=memory) | Q(to_memory=memory), end_user_id=memory.end_user_id, status=LinkStatus.OPEN
    ).select_related("from_memory", "to_memory")
    heavy = [f"{side}__{field}" for side in ("from_memory", "to_memory") for field in ("terms", "context_terms")]
    found = list(links.defer(*heavy))
    told = compared(found)
    return tuple(
        Linked(
            link=link,
            memory=link.to_memory if link.from_memory_id == memory.pk else link.from_memory,
            compared=told.get(link.pk),
        )
        for link in found
    )


def _similar(memory: Memory) -> tuple[Similar, ...]:
    mine = MemoryVector.objects.filter(end_user_id=memory.end_user_id)
    own = mine.filter(memory=memory).first()
    if own is None:
        return ()
    near = (
        mine.filter(embedder=own.embedder, memory__in=Memory.objects.for_end_user(memory.end_user_id).live())
        .exclude(memory=memory)
        .annotate(distance=MaxInnerProduct("embedding", own.embedding))
        .order_by("distance")
    )
    found = dict(near.values_list("memory_id", "distance")[:MOST_SIMILAR])
    rows = Memory.objects.for_end_user(memory.end_user_id).filter(id__in=found).to_show()
    close = (Similar(memory=row, cosine=-found[row.pk]) for row in rows)
    return tuple(sorted((each for each in close if each.cosine >= LEAST_SIMILAR), key=lambda each: -each.cosine))
