"""Search the memories of one end user: compare them with the query, rank them, and read the best."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import numpy as np
from django.db import transaction

from apps.memories.models import Memory, MemoryLink
from apps.memories.querysets import MemoryQuerySet
from apps.pipeline.core.enums import Status
from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.core.ports import Embedder
from apps.retrieval.candidates import Candidates, EmbeddedQuery, read_candidates
from apps.retrieval.mentioned import mentioned_entities
from apps.retrieval.noise import noise_of
from apps.retrieval.query import SearchQuery, compared, eligible
from apps.retrieval.query_text import names_in, without_names
from apps.retrieval.ranking import Scores, rank

MAX_QUERY_CHARACTERS = 2_000
# Put together once: building it takes longer than its statement.
_DISPUTES = MemoryLink.objects.disputed().order_by().values_list("from_memory_id", "to_memory_id")
_IN_FULL: MemoryQuerySet = Memory.objects.order_by().to_show()
_SHORT: MemoryQuerySet = Memory.objects.order_by().only(
    *("end_user_id", "status", "type", "content", "tags", "metadata", "version"),
    *("said_at", "event_at", "event_precision", "recurrence"),
)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A found memory with its `score`, 0 to 1, which orders the hits and is comparable between queries.

    The score is the sum of `parts` times a factor made of `evidence` (ranking.py).
    """

    memory: Memory
    score: float
    parts: Mapping[str, float]
    evidence: Mapping[str, float]
    contradicted_by: tuple[UUID, ...] = ()  # live memories that it contradicts at the same time

    @property
    def is_unverified(self) -> bool:
        """Return True if the memory waits for review."""
        return self.memory.status == Status.PENDING_REVIEW


@dataclass(frozen=True, slots=True)
class RankedMemories:
    """The memories that a search compares, with their scores."""

    candidates: Candidates
    scores: Scores
    min_score: float  # of hits; less than 0 for a query without text, which all memories answer

    def best(self, *, limit: int) -> list[int]:
        """Return the places of the hits, best first."""
        return self.scores.best(limit=limit, min_score=self.min_score, eligible=self.candidates.eligible)

    def ids(self, places: Sequence[int]) -> list[UUID]:
        """Return the ids of the memories at some places."""
        return [UUID(bytes=self.candidates.memories.keys[place]) for place in places]

    def hits(self, places: Sequence[int], found: Mapping[UUID, Memory]) -> tuple[SearchHit, ...]:
        """Return the memories at some places as hits, without those that were not found; one query."""
        owner = next((each.end_user_id for each in found.values()), None)
        contradicted_by = open_contradictions(list(found), end_user_id=owner) if owner else {}
        return tuple(
            SearchHit(
                memory=found[memory_id],
                score=float(self.scores.score[place]),
                parts={name: float(values[place]) for name, values in self.scores.parts.items()},
                evidence={name: float(values[place]) for name, values in self.scores.evidence.items()},
                contradicted_by=contradicted_by.get(memory_id, ()),
            )
            for place, memory_id in zip(places, self.ids(places), strict=True)
            if memory_id in found
        )


def search(
    *,
    end_user_id: UUID,
    query: SearchQuery,
    embedder: Embedder,
    policy: RetrievalPolicy,
    now: datetime,
    in_short: bool = False,
) -> tuple[SearchHit, ...]:
    """Return the best memories for a query, best first, in the order of their scores.

    `in_short` reads only what a short result shows.
    A blank query returns the most important ones, whatever the least score. A memory without vectors is scored by its
    words only. Raises whatever the embedder raises.
    """
    asked = embedded(query.text, embedder)
    with transaction.atomic(savepoint=False):
        ranked = rank_all(end_user_id=end_user_id, query=query, asked=asked, policy=policy, now=now)
        places = ranked.best(limit=query.limit)
        found = read_memories(ranked.ids(places), end_user_id=end_user_id, in_short=in_short)
        return ranked.hits(places, found)


def embedded(text: str, embedder: Embedder) -> EmbeddedQuery:
    """Embed the text of a query, before the transaction. Raises whatever the embedder raises."""
    text = _UNSTORABLE.sub(" ", text)[:MAX_QUERY_CHARACTERS]
    vector = embedder.embed([without_names(text)])[0]
    return EmbeddedQuery(text=text, vector=vector, embedder=embedder.name, noise=noise_of(embedder).of(vector))


def rank_all(
    *, end_user_id: UUID, query: SearchQuery, asked: EmbeddedQuery, policy: RetrievalPolicy, now: datetime
) -> RankedMemories:
    """Read and score the memories that a search compares; one transaction has all statements."""
    candidates = read_candidates(
        compared(query, of=Memory.objects.for_end_user(end_user_id), now=now),
        eligible=eligible(query, policy=policy),
        asked=asked,
        mentioned=mentioned_entities(names_in(asked.text), end_user_id=end_user_id),
        end_user_id=end_user_id,
    )
    scores = rank(
        memories=candidates.memories,
        query=candidates.query,
        noise=asked.noise,
        now=now.timestamp(),
        policy=policy,
    )
    if not asked.text.strip():  # all memories answer it, ordered by importance, recency and confidence
        scores = replace(scores, score=np.zeros_like(scores.score), parts={}, evidence={})
        return RankedMemories(candidates=candidates, scores=scores, min_score=-1.0)
    least = policy.min_score if query.min_score is None else query.min_score
    return RankedMemories(candidates=candidates, scores=scores, min_score=least)


def read_memories(ids: Sequence[UUID], *, end_user_id: UUID, in_short: bool = False) -> dict[UUID, Memory]:
    """Return memories with the related rows that responses show, or with the columns of a short result."""
    rows = _SHORT if in_short else _IN_FULL
    return {each.id: each for each in rows.for_end_user(end_user_id).filter(id__in=ids)}


def open_contradictions(ids: Sequence[UUID], *, end_user_id: UUID) -> dict[UUID, tuple[UUID, ...]]:
    """Return, for each memory, those that dispute it, in order."""
    others: dict[UUID, set[UUID]] = {}
    for one, other in _DISPUTES.filter(end_user_id=end_user_id):
        others.setdefault(one, set()).add(other)
        others.setdefault(other, set()).add(one)
    return {memory_id: tuple(sorted(others[memory_id])) for memory_id in ids if memory_id in others}
