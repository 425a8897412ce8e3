"""Which known memories are relevant to new turns: several lists take turns, so that no topic crowds out the others."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import log
from uuid import UUID

from apps.pipeline.core.ports import RelevanceQuery


@dataclass(frozen=True, slots=True)
class LiveMemory:
    """What decides whether a live memory is relevant."""

    id: UUID
    subject_id: UUID | None
    session_id: UUID | None
    created_at: datetime
    event_at: datetime | None
    content: str
    is_indexed: bool  # has a vector of the query's embedder


def most_relevant(
    *,
    live: Iterable[LiveMemory],
    query: RelevanceQuery,
    nearest: Iterable[Sequence[UUID]],
    named: Collection[UUID],
    most: int,
) -> list[UUID]:
    """Return the most relevant of an end user's live memories.

    `nearest` are the memories nearest to each sentence by their vectors, `named` the entities that the turns name.
    Each memory comes at its best place in any list, equals by the sum of reciprocal places. What is nearest to a
    sentence by its vector and by its words (rare ones count more), what is about a named entity, and coming events come
    first, then memories of the session, then the latest.
    """
    latest = sorted(live, key=lambda each: (each.created_at, each.id), reverse=True)
    now, dated = query.now, [(each.event_at, each.id) for each in latest if each.event_at is not None]
    coming = sorted((at, memory_id) for at, memory_id in dated if now is not None and at >= now)  # the next one first
    of_session = [each.id for each in latest if each.session_id == query.session_id or not each.is_indexed]
    folded = {each.id: f" {each.content.lower()}" for each in latest}
    stems = {stem for sentence in query.words for stem in sentence}
    holding = {stem: {id for id, text in folded.items() if f" {stem}" in text} for stem in stems}
    by_words: list[list[UUID]] = []  # for each sentence
    for sentence in query.words:
        scores: defaultdict[UUID, float] = defaultdict(float)
        for stem in sentence:
            for memory_id in holding[stem]:
                scores[memory_id] += log(1 + len(latest) / len(holding[stem]))
        by_words.append(sorted(scores, key=lambda memory_id: (-scores[memory_id], memory_id)))
    lists: list[tuple[int, Iterable[UUID]]] = [
        *((1, ids) for ids in nearest),
        *((1, ids) for ids in by_words),
        (1, [each.id for each in latest if each.subject_id in named]),
        (1, [memory_id for _, memory_id in coming]),
        (3, of_session),
        (7, [each.id for each in latest]),
    ]
    places: defaultdict[UUID, list[int]] = defaultdict(list)
    for first, ids in lists:
        for place, memory_id in enumerate(ids, start=first):
            places[memory_id].append(place)
    best = sorted((each.id for each in latest), reverse=True)
    best.sort(key=lambda memory_id: (min(places[memory_id]), -sum(1 / (10 + each) for each in places[memory_id])))
    return best[:most]
