"""Search the memories of one end user: score every memory and read the best ones, in two round trips.

1. Read the memories in scope (scope.py) as columns: words, cosines, entities that the query refers to
   (search_columns.py).
2. Rank them (pipeline/retrieval/ranking.py).
3. Read the rows of the best.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np

from apps.memories.models import Memory
from apps.memories.reading.as_of import as_believed
from apps.memories.reading.hydrate import FoundMemory, read_memories
from apps.memories.search.embedder_noise import noise_floor_of
from apps.memories.search.query import QueryTerms
from apps.memories.search.scope import SearchQuery, search_scope
from apps.memories.search.search_columns import Columns, read_columns, with_exact_cosines
from apps.pipeline.core.enums import Status
from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.core.ports import Embedder
from apps.pipeline.retrieval.answer_types import wanted_answer
from apps.pipeline.retrieval.bm25 import Floats, Places
from apps.pipeline.retrieval.query_entities import names_in, without_names
from apps.pipeline.retrieval.ranking import Scores, best, match_words, rank
from apps.pipeline.retrieval.shortlist import shortlist

MAX_QUERY_CHARACTERS = 2_000
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A found memory.

    `score`, 0 to 1, is absolute: how much the memory has to do with the query, made of `evidence`. `rank` orders the
    hits of one search and is the sum of `rank_parts`.
    """

    memory: Memory
    score: float
    evidence: Mapping[str, float]
    rank: float
    rank_parts: Mapping[str, float]
    contradicted_by: tuple[UUID, ...] = ()  # live memories that it contradicts, by links that nobody has settled

    @property
    def is_unverified(self) -> bool:
        """Return True if the memory waits for review."""
        return self.memory.status == Status.PENDING_REVIEW


@dataclass(frozen=True, slots=True)
class RankedMemories:
    """All memories that a search considers, with their scores."""

    columns: Columns
    scores: Scores
    is_blank: bool  # the query has no text

    def best(self, *, limit: int, min_score: float) -> Places:
        """Return the positions of the hits, best first."""
        return best(
            scores=self.scores,
            memories=self.columns.memories,
            eligible=self.columns.eligible,
            limit=limit,
            min_score=min_score,
            is_blank=self.is_blank,
        )

    def in_order(self, *, limit: int) -> Places:
        """Return the positions of the best memories, whether they may be hits or not."""
        memories = self.columns.memories
        everything = np.ones(len(memories), dtype=np.bool_)
        return best(scores=self.scores, memories=memories, eligible=everything, limit=limit, is_blank=True)


def search(
    *, end_user_id: UUID, query: SearchQuery, embedder: Embedder, policy: RetrievalPolicy, now: datetime
) -> tuple[SearchHit, ...]:
    """Return the best memories for a query, best first.

    A blank query returns the most important ones, whatever the least score. A memory without vectors is scored by its
    words only. With `known_at`, the words are those of that time and the vectors those of now.
    Raises whatever the embedder raises.
    """
    ranked = rank_all(end_user_id=end_user_id, query=query, embedder=embedder, policy=policy, now=now)
    places = ranked.best(limit=query.limit, min_score=query.min_score).tolist()
    found = _read([ranked.columns.id_at(place) for place in places], end_user_id=end_user_id, known_at=query.known_at)
    return hits_at(ranked=ranked, places=places, found=found)


def rank_all(
    *, end_user_id: UUID, query: SearchQuery, embedder: Embedder, policy: RetrievalPolicy, now: datetime
) -> RankedMemories:
    """Read and score all memories in the scope of a query, in one round trip, or two with very many memories.

    Raises whatever the embedder raises.
    """
    text = _UNSTORABLE.sub(" ", query.text)[:MAX_QUERY_CHARACTERS]
    asked = QueryTerms(
        text=text,
        names=names_in(text),
        embedder=embedder.name,
        vector=embedder.embed([without_names(text)])[0],
        wanted=wanted_answer(text),
    )
    columns = read_columns(end_user_id=end_user_id, asked=asked, scope=search_scope(query, policy=policy, now=now))
    words = match_words(memories=columns.memories, query=columns.query, policy=policy)
    if columns.are_estimates:
        places = shortlist(memories=columns.memories, words=words, policy=policy)
        columns = with_exact_cosines(columns, end_user_id=end_user_id, asked=asked, places=places)
    scores = rank(
        memories=columns.memories,
        words=words,
        noise_floor=noise_floor_of(embedder),
        now=now.timestamp(),
        policy=policy,
    )
    return RankedMemories(columns=columns, scores=scores, is_blank=not text.strip())


def hits_at(
    *, ranked: RankedMemories, places: Sequence[int], found: Mapping[UUID, FoundMemory]
) -> tuple[SearchHit, ...]:
    """Return the memories at some positions with their scores; without those that were not found."""
    scores, ids = ranked.scores, [ranked.columns.id_at(place) for place in places]
    totals = scores.score[places].tolist(), scores.rank[places].tolist()
    ranks = scores.parts_at(np.array(places, dtype=np.int64))
    parts = _at(ranks, range(len(places)))
    hits = zip(ids, *totals, _at(scores.evidence, places), parts, strict=True)
    return tuple(
        SearchHit(
            memory=found[memory_id].memory,
            score=score,
            evidence=evidence,
            rank=total,
            rank_parts=parts,
            contradicted_by=found[memory_id].contradicted_by,
        )
        for memory_id, score, total, evidence, parts in hits
        if memory_id in found
    )


def _at(values: Mapping[str, Floats], places: Sequence[int]) -> list[dict[str, float]]:
    """Return named values at some places."""
    return [{name: float(each[place]) for name, each in values.items()} for place in places]


def _read(ids: Sequence[UUID], *, end_user_id: UUID, known_at: datetime | None) -> dict[UUID, FoundMemory]:
    """Read memories, with the values that they had at the moment given; one more round trip then."""
    found = read_memories(end_user_id=end_user_id, ids=ids) if ids else {}
    if known_at and found:
        as_believed(memories=[each.memory for each in found.values()], end_user_ids={end_user_id}, moment=known_at)
    return found
