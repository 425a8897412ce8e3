"""Explain a search: every memory that it considered in order, and what kept each of the others from the results.

Order and scores are those of the search itself: the same ranking of the same columns. One more statement reads what the
search does not score, and one the rows of both.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from apps.memories.models import Memory
from apps.memories.reading.hydrate import FoundMemory, read_memories
from apps.memories.search.ranked_search import RankedMemories, SearchHit, hits_at, rank_all
from apps.memories.search.scope import SearchQuery, SearchScope, search_scope, searched_statuses
from apps.pipeline.core.enums import Status
from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.core.ports import Embedder
from apps.pipeline.retrieval.exclusion import Exclusion, SearchStanding, exclusion_from_scoring, exclusions

MOST_SCORED = 60  # memories that are listed; all of them are counted
MOST_UNSCORED = 40

# The rows that the scope of the search leaves out, latest first, and how many there are.
_UNSCORED = """
select m.id, count(*) over ()
from memories_memory m
where m.end_user_id = %(end_user)s and not ({searched})
order by m.said_at desc, m.id desc
limit %(most)s
"""


@dataclass(frozen=True, slots=True)
class ScoredMemory:
    """A memory that was scored: a result with its place from 1, or excluded."""

    hit: SearchHit
    place: int | None = None
    exclusion: Exclusion | None = None


@dataclass(frozen=True, slots=True)
class UnscoredMemory:
    """A memory that was not scored, and why."""

    memory: Memory
    exclusion: Exclusion


@dataclass(frozen=True, slots=True)
class SearchExplanation:
    """What a search considered.

    `scored` is in order of rank, at most MOST_SCORED and all results; `excluded` counts all scored memories that are no
    result. `unscored` has the latest of `unscored_count`.
    """

    scored: tuple[ScoredMemory, ...]
    scored_count: int
    excluded: Mapping[Exclusion, int]
    unscored: tuple[UnscoredMemory, ...]
    unscored_count: int


def explain_search(
    *, end_user_id: UUID, query: SearchQuery, embedder: Embedder, policy: RetrievalPolicy, now: datetime
) -> SearchExplanation:
    """Search as `search` does, in three round trips, without `known_at`. Raises whatever the embedder raises."""
    scope = search_scope(query, policy=policy, now=now)
    ranked = rank_all(end_user_id=end_user_id, query=query, embedder=embedder, policy=policy, now=now)
    places, results, reasons = _order(ranked, query)
    unscored_ids, unscored_count = _unscored_ids(end_user_id, scope)
    wanted = [*(ranked.columns.id_at(place) for place in places), *unscored_ids]
    found = read_memories(end_user_id=end_user_id, ids=wanted)
    return SearchExplanation(
        scored=_scored(ranked, places, results, reasons, found),
        scored_count=len(reasons),
        excluded={Exclusion(reason): count for reason, count in Counter(reasons.tolist()).items() if reason},
        unscored=_unscored(unscored_ids, found, query, scope),
        unscored_count=unscored_count,
    )


def _order(ranked: RankedMemories, query: SearchQuery) -> tuple[list[int], list[int], NDArray[np.str_]]:
    """Return the positions to list in order of rank, those of the results, and the exclusion of each memory."""
    results = ranked.best(limit=query.limit, min_score=query.min_score)
    listed = ranked.in_order(limit=MOST_SCORED).tolist()
    reasons = exclusions(
        scores=ranked.scores,
        eligible=ranked.columns.eligible,
        found=results,
        min_score=query.min_score,
        is_blank=ranked.is_blank,
    )
    beyond = [place for place in results.tolist() if place not in set(listed)]
    return [*listed, *beyond], results.tolist(), reasons


def _scored(
    ranked: RankedMemories,
    places: Sequence[int],
    results: Sequence[int],
    reasons: NDArray[np.str_],
    found: Mapping[UUID, FoundMemory],
) -> tuple[ScoredMemory, ...]:
    known = [place for place in places if ranked.columns.id_at(place) in found]
    numbers = {place: number for number, place in enumerate(results, start=1)}
    hits = hits_at(ranked=ranked, places=known, found=found)
    return tuple(
        ScoredMemory(
            hit=hit,
            place=numbers.get(place),
            exclusion=None if place in numbers else Exclusion(str(reasons[place])),
        )
        for place, hit in zip(known, hits, strict=True)
    )


def _unscored_ids(end_user_id: UUID, scope: SearchScope) -> tuple[list[UUID], int]:
    with connection.cursor() as cursor:
        values = {**scope.values, "end_user": end_user_id, "most": MOST_UNSCORED}
        cursor.execute(_UNSCORED.format(searched=scope.searched), values)
        rows = cursor.fetchall()
    return [row[0] for row in rows], rows[0][1] if rows else 0


def _unscored(
    ids: Sequence[UUID], found: Mapping[UUID, FoundMemory], query: SearchQuery, scope: SearchScope
) -> tuple[UnscoredMemory, ...]:
    shown, agent_id = frozenset(searched_statuses(query)), query.told_in.agent_id
    memories = [found[memory_id].memory for memory_id in ids if memory_id in found]
    return tuple(
        UnscoredMemory(
            memory=memory,
            exclusion=exclusion_from_scoring(
                memory=_standing(memory, agent_id), shown=shown, moment=scope.values["moment"]
            ),
        )
        for memory in memories
    )


def _standing(memory: Memory, agent_id: str) -> SearchStanding:
    told_by = {memory.agent_id, *(each["agent_id"] for each in memory.further_sources)}
    return SearchStanding(
        is_told=agent_id in told_by if agent_id else not memory.private_to,
        status=Status(memory.status),
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
        expires_at=memory.expires_at,
    )
