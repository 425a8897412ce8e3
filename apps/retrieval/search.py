"""Search the memories of one end user: compare them with the query, rank them, and read the best.

A ranking also tells why a memory is no result, and is what a context block is made of.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

import numpy as np
from django.db import transaction

from apps.memories.models import Memory, MemoryLink
from apps.memories.querysets import MemoryQuerySet
from apps.pipeline.core.enums import Status
from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.core.ports import Embedder
from apps.retrieval.candidates import EmbeddedQuery, read_candidates
from apps.retrieval.mentioned import mentioned_entities
from apps.retrieval.noise import noise_of
from apps.retrieval.query import SearchQuery, compared, eligible
from apps.retrieval.query_text import names_in, without_names
from apps.retrieval.ranking import Memories, Scores, rank

MAX_QUERY_CHARACTERS = 2_000
# Put together once: building it takes longer than its statement.
_DISPUTES = MemoryLink.objects.disputed().order_by().values_list("from_memory_id", "to_memory_id")
_IN_FULL: MemoryQuerySet = Memory.objects.order_by().to_show()
_SHORT: MemoryQuerySet = Memory.objects.order_by().only(
    *("end_user_id", "status", "type", "content", "tags", "metadata", "version"),
    *("said_at", "event_at", "event_precision", "recurrence"),
)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class Exclusion(StrEnum):
    """The first condition that a memory does not meet, the nearest miss first; the last five are not compared."""

    CONFIDENCE = "less confident than these stakes require"
    LIMIT = "others are better"
    MIN_SCORE = "below the least score"
    UNRELATED = "nothing in common with the query"
    NOT_YET_VALID = "it was not true yet"
    EXPIRED = "it has expired"
    NO_LONGER_VALID = "it was no longer true"
    STATUS = "its status is not shown at these stakes"
    OTHER_AGENT = "told by another agent, or private to one"


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A memory with its `score`, 0 to 1, which orders the hits and is comparable between queries.

    The score is the sum of `parts` times a factor made of `evidence` (ranking.py).
    """

    memory: Memory
    score: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)
    evidence: Mapping[str, float] = field(default_factory=dict)
    contradicted_by: tuple[UUID, ...] = ()  # live memories that it contradicts at the same time
    exclusion: Exclusion | None = None  # why it is no result

    @property
    def is_unverified(self) -> bool:
        """Return True if the memory waits for review."""
        return self.memory.status == Status.PENDING_REVIEW


@dataclass(frozen=True, slots=True)
class Ranking:
    """The memories that a search compares, with their scores."""

    end_user_id: UUID
    query: SearchQuery
    policy: RetrievalPolicy
    now: datetime
    memories: Memories
    scores: Scores
    min_score: float  # of hits; less than 0 for a query without text, which all memories answer

    def best(self, *, limit: int, min_score: float | None = None) -> list[int]:
        """Return the places of memories that may be results, best first."""
        least = self.min_score if min_score is None else min_score
        return self.scores.best(limit=limit, min_score=least, eligible=self.memories.eligible)

    def ids(self, places: Iterable[int]) -> list[UUID]:
        """Return the ids of the memories at some places."""
        return [UUID(bytes=self.memories.keys[place]) for place in places]

    def exclusions(self) -> dict[int, Exclusion]:
        """Return why memories are no results, by place."""
        results = set(self.best(limit=self.query.limit))
        found = {}
        for place, score in enumerate(self.scores.score):
            if not self.memories.eligible[place]:
                found[place] = Exclusion.CONFIDENCE
            elif self.min_score >= 0 and score <= 0:
                found[place] = Exclusion.UNRELATED
            elif score < self.min_score:
                found[place] = Exclusion.MIN_SCORE
            elif place not in results:
                found[place] = Exclusion.LIMIT
        return found

    def results(self, *, in_short: bool = False) -> tuple[SearchHit, ...]:
        """Return the best memories for the query, best first; `in_short` reads only what a short result shows."""
        return self.hits(self.best(limit=self.query.limit), in_short=in_short)

    def hits(
        self, places: Sequence[int], *, in_short: bool = False, exclusions: Mapping[int, Exclusion] | None = None
    ) -> tuple[SearchHit, ...]:
        """Read the memories at some places (two queries)."""
        rows = (_SHORT if in_short else _IN_FULL).for_end_user(self.end_user_id)
        found = {each.id: each for each in rows.filter(id__in=self.ids(places))}
        contradicted_by = open_contradictions(found, end_user_id=self.end_user_id) if found else {}
        return tuple(
            SearchHit(
                memory=found[memory_id],
                score=float(self.scores.score[place]),
                parts={name: float(values[place]) for name, values in self.scores.parts.items()},
                evidence={name: float(values[place]) for name, values in self.scores.evidence.items()},
                contradicted_by=contradicted_by.get(memory_id, ()),
                exclusion=(exclusions or {}).get(place),
            )
            for place, memory_id in zip(places, self.ids(places), strict=True)
            if memory_id in found
        )


@contextmanager
def ranked(
    *, end_user_id: UUID, query: SearchQuery, embedder: Embedder, policy: RetrievalPolicy, now: datetime
) -> Iterator[Ranking]:
    """Compare memories with a query; the transaction of its statements lasts while the block runs.

    A blank query is answered by the most important ones, whatever the least score. A memory without vectors is scored
    by its words only. Raises whatever the embedder raises.
    """
    text = _UNSTORABLE.sub(" ", query.text)[:MAX_QUERY_CHARACTERS]
    vector = embedder.embed([without_names(text)])[0]
    asked = EmbeddedQuery(text=text, vector=vector, embedder=embedder.name)
    noise = noise_of(embedder).of(vector)
    with transaction.atomic(savepoint=False):  # not while the embedder works
        memories, words = read_candidates(
            compared(query, of=Memory.objects.for_end_user(end_user_id), now=now),
            eligible=eligible(query, policy=policy),
            asked=asked,
            mentioned=mentioned_entities(names_in(text), end_user_id=end_user_id),
            end_user_id=end_user_id,
        )
        scores = rank(memories=memories, query=words, noise=noise, now=now.timestamp(), policy=policy)
        least = policy.min_score if query.min_score is None else query.min_score
        if not text.strip():  # all memories answer it, ordered by importance, recency and confidence
            scores, least = replace(scores, score=np.zeros_like(scores.score), parts={}, evidence={}), -1.0
        yield Ranking(end_user_id, query, policy, now, memories, scores, least)


def open_contradictions(ids: Iterable[UUID], *, end_user_id: UUID) -> dict[UUID, tuple[UUID, ...]]:
    """Return, for each memory, those that dispute it, in order."""
    others: dict[UUID, set[UUID]] = {}
    for one, other in _DISPUTES.filter(end_user_id=end_user_id):
        others.setdefault(one, set()).add(other)
        others.setdefault(other, set()).add(one)
    return {memory_id: tuple(sorted(others[memory_id])) for memory_id in ids if memory_id in others}
