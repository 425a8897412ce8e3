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

from apps.memories.models import Memory
from apps.memories.reading.as_of import as_believed
from apps.memories.reading.hydrate import read_memories
from apps.memories.search.query import QueryTerms
from apps.memories.search.scope import SearchQuery, search_scope
from apps.memories.search.search_columns import Columns, read_columns
from apps.pipeline.core.enums import Status
from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.core.ports import Embedder
from apps.pipeline.retrieval.query_entities import names_in, without_names
from apps.pipeline.retrieval.ranking import Scores, best, rank

MAX_QUERY_CHARACTERS = 2_000
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A memory that matches a query; `score` is the sum of its parts, from 0 to 1."""

    memory: Memory
    score: float
    parts: Mapping[str, float]

    @property
    def is_unverified(self) -> bool:
        """Return True if the memory waits for review."""
        return self.memory.status == Status.PENDING_REVIEW


def search(
    *, end_user_id: UUID, query: SearchQuery, embedder: Embedder, policy: RetrievalPolicy, now: datetime
) -> tuple[SearchHit, ...]:
    """Return the best memories for a query, best first.

    A blank query returns the most important memories. A memory without vectors is scored by its words only. With
    `known_at`, the words are those of that time and the vectors those of now.
    Raises whatever the embedder raises.
    """
    text = _UNSTORABLE.sub(" ", query.text)[:MAX_QUERY_CHARACTERS]
    asked = QueryTerms(
        text=text,
        names=names_in(text),
        embedder=embedder.name,
        vector=embedder.embed([without_names(text)])[0],
    )
    columns = read_columns(end_user_id=end_user_id, asked=asked, scope=search_scope(query, policy=policy, now=now))
    scores = rank(memories=columns.memories, query=columns.query, now=now.timestamp(), policy=policy)
    places = best(
        scores=scores,
        memories=columns.memories,
        eligible=columns.eligible,
        limit=query.limit,
        is_blank=not text.strip(),
    )
    return _hits(end_user_id, query.known_at, columns, scores, places.tolist())


def _hits(
    end_user_id: UUID, known_at: datetime | None, columns: Columns, scores: Scores, places: Sequence[int]
) -> tuple[SearchHit, ...]:
    ids = [columns.id_at(place) for place in places]
    memories = _read(ids, end_user_id=end_user_id, known_at=known_at)
    hits = []
    for memory_id, place in zip(ids, places, strict=True):
        if memory_id in memories:
            parts = {name: float(part[place]) for name, part in scores.parts.items()}
            hits.append(SearchHit(memory=memories[memory_id], score=sum(parts.values()), parts=parts))
    return tuple(hits)


def _read(ids: Sequence[UUID], *, end_user_id: UUID, known_at: datetime | None) -> dict[UUID, Memory]:
    """Read memories; with `known_at`, in the version of that time, which costs one more round trip."""
    memories = read_memories(end_user_id=end_user_id, ids=ids) if ids else {}
    if known_at and memories:
        as_believed(memories=list(memories.values()), end_user_ids={end_user_id}, moment=known_at)
    return memories
