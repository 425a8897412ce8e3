"""Explain a search: every memory that it compared in order, and what kept each of the others from the results.

Order and scores are those of the search itself: the same ranking of the same memories.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from django.db import transaction

from apps.memories.models import Memory
from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.core.ports import Embedder
from apps.retrieval.query import SearchQuery, compared
from apps.retrieval.search import SearchHit, embedded, rank_all, read_memories

MOST_SCORED = 60  # memories that are listed; all of them are counted
MOST_UNSCORED = 40


class Exclusion(StrEnum):
    """The first condition that a memory does not meet; the first five keep it from being compared."""

    OTHER_AGENT = "other_agent"  # told by another agent than the one that asks, or private to one
    STATUS = "status"
    EXPIRED = "expired"
    NOT_YET_VALID = "not_yet_valid"
    NO_LONGER_VALID = "no_longer_valid"
    CONFIDENCE = "confidence"  # lower than the stakes require
    UNRELATED = "unrelated"  # nothing in common with the query
    MIN_SCORE = "min_score"
    LIMIT = "limit"  # others are better


@dataclass(frozen=True, slots=True)
class ScoredMemory:
    """A memory that was compared: a result with its place from 1, or excluded."""

    hit: SearchHit
    place: int | None = None
    exclusion: Exclusion | None = None


@dataclass(frozen=True, slots=True)
class UnscoredMemory:
    """A memory that was not compared, and why."""

    memory: Memory
    exclusion: Exclusion


@dataclass(frozen=True, slots=True)
class SearchExplanation:
    """What a search considered.

    `scored` is in order of the scores, at most MOST_SCORED and all results; `excluded` counts all compared memories
    that are no result. `unscored` has the latest of `unscored_count`.
    """

    scored: tuple[ScoredMemory, ...]
    scored_count: int
    excluded: Mapping[Exclusion, int]
    unscored: tuple[UnscoredMemory, ...]
    unscored_count: int


def explain_search(
    *, end_user_id: UUID, query: SearchQuery, embedder: Embedder, policy: RetrievalPolicy, now: datetime
) -> SearchExplanation:
    """Search as `search` does, and list what it leaves out. Raises whatever the embedder raises."""
    asked = embedded(query.text, embedder)
    with transaction.atomic(savepoint=False):
        ranked = rank_all(end_user_id=end_user_id, query=query, asked=asked, policy=policy, now=now)
    results = ranked.best(limit=query.limit)
    numbers = {place: number for number, place in enumerate(results, start=1)}
    count = len(ranked.candidates.memories)
    exclusions: dict[int, Exclusion] = {}
    for place in range(count):
        score = ranked.scores.score[place]
        if place in numbers:
            continue
        if not ranked.candidates.eligible[place]:
            exclusions[place] = Exclusion.CONFIDENCE
        elif ranked.min_score >= 0 and score <= 0:
            exclusions[place] = Exclusion.UNRELATED
        else:
            exclusions[place] = Exclusion.MIN_SCORE if score < ranked.min_score else Exclusion.LIMIT
    listed = list(dict.fromkeys([*ranked.scores.best(limit=MOST_SCORED, min_score=-1.0), *results]))
    found = read_memories(ranked.ids(listed), end_user_id=end_user_id)
    known = [place for place, memory_id in zip(listed, ranked.ids(listed), strict=True) if memory_id in found]
    rows = compared(query, of=Memory.objects.for_end_user(end_user_id), now=now)
    others = Memory.objects.for_end_user(end_user_id).exclude(id__in=rows.values("id"))
    return SearchExplanation(
        scored=tuple(
            ScoredMemory(hit=hit, place=numbers.get(place), exclusion=exclusions.get(place))
            for place, hit in zip(known, ranked.hits(known, found), strict=True)
        ),
        scored_count=count,
        excluded=Counter(exclusions.values()),
        unscored=tuple(
            UnscoredMemory(memory=each, exclusion=_exclusion_before(each, query, moment=query.as_of or now))
            for each in others.to_show().order_by("-said_at", "-id")[:MOST_UNSCORED]
        ),
        unscored_count=others.count(),
    )


def _exclusion_before(memory: Memory, query: SearchQuery, *, moment: datetime) -> Exclusion:
    """Return why a memory is not compared at a moment; it is known not to be."""
    told_by = {memory.agent_id, *(each["agent_id"] for each in memory.further_sources)}
    agent_id = query.told_in.agent_id
    if agent_id not in told_by if agent_id else memory.private_to:
        return Exclusion.OTHER_AGENT
    if memory.status not in query.searched_statuses():
        return Exclusion.STATUS
    if memory.expires_at is not None and memory.expires_at <= moment:
        return Exclusion.EXPIRED
    if memory.valid_until is not None and memory.valid_until <= moment:
        return Exclusion.NO_LONGER_VALID
    return Exclusion.NOT_YET_VALID
