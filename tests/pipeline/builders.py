"""Builders of turns, candidates and drafts for decision tables."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

from apps.memories.reading.in_memory_store import InMemoryStore
from apps.pipeline.core.draft import Draft, Origin, Request, Ruling
from apps.pipeline.core.enums import EntityType, MemoryType, Role
from apps.pipeline.core.memory_conversion import as_memory
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.ports import Ports
from apps.pipeline.core.statement import Candidate, Mention, ObjectValue, StoredMemory
from apps.pipeline.core.turn import SourceTurn
from apps.providers.fake import HashingEmbedder

MONDAY = datetime(2025, 6, 2, 9, 0, tzinfo=UTC)
ORIGIN = Origin(project_id=UUID(int=1), end_user_id=UUID(int=2), session_id=UUID(int=3))
SPEAKER = Mention(text="User", type=EntityType.PERSON, is_speaker=True)


class CountedIds:
    """Identifiers in a fixed order, so that runs are deterministic."""

    def __init__(self, *, start: int = 1_000) -> None:
        self._numbers: Iterator[int] = count(start)

    def new(self) -> UUID:
        return UUID(int=next(self._numbers))


def ports_of(store: InMemoryStore, **changes: Any) -> Ports:
    """Return ports to a store in memory, without a model."""
    fixed = Ports(now=lambda: MONDAY, new_id=CountedIds().new, embedder=HashingEmbedder(), memories=store, writer=store)
    return replace(fixed, **changes)


def turn(content: str, *, position: int = 0, day: int = 0, role: Role = Role.USER, speaker: str = "") -> SourceTurn:
    return SourceTurn(
        id=UUID(int=10_000 + position),
        position=position,
        role=role,
        content=content,
        received_at=MONDAY + timedelta(days=day),
        speaker=speaker,
    )


def person(text: str) -> Mention:
    return Mention(text=text, type=EntityType.PERSON)


def candidate(content: str, *, source: SourceTurn, **changes: Any) -> Candidate:
    """Build a fact of the speaker; `value` is its literal object, `entity` its object as a mention."""
    value, entity = changes.pop("value", None), changes.pop("entity", None)
    given = {
        "index": 0,
        "type": MemoryType.FACT,
        "subject": SPEAKER,
        "predicate": "says",
        "object": ObjectValue(literal=value, entity=entity),
        "content": content,
        "source_turn_ids": (source.id,),
        "evidence": source.content,
        "extractor": "plain:test",
        "reliability": 0.8,
    }
    return Candidate(**{**given, **changes})


def draft_of(
    candidates: Iterable[Candidate], *, turns: Iterable[SourceTurn], earlier: Iterable[SourceTurn] = ()
) -> Draft:
    request = Request(
        trace_id=UUID(int=4), origin=ORIGIN, turns=tuple(turns), earlier_turns=tuple(earlier), topic="", metadata={}
    )
    numbered = tuple(each.evolve(index=index) for index, each in enumerate(candidates))
    return Draft.start(request=request, policy=Policy()).evolve(candidates=numbered)


def resolved(each: Candidate, *, subject_id: UUID) -> Candidate:
    """Resolve the subject, as resolve_refs does."""
    return each.evolve(subject=Mention(text=each.subject.text, type=each.subject.type, entity_id=subject_id))


def known(each: Candidate, *, memory_id: UUID, source: SourceTurn, **changes: Any) -> StoredMemory:
    """Return the stored memory of a candidate."""
    draft = draft_of([each], turns=[source])
    memory = as_memory(draft=draft, ruling=Ruling(candidate=each, memory_id=memory_id))
    return replace(memory, **changes)
