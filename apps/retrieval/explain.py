"""Explain a search: the memories that it compared in order, and what kept each of the others from the results.

Order and scores are those of the search itself: the same ranking of the same memories.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from apps.memories.models import Memory
from apps.retrieval.block import ContextBlock
from apps.retrieval.query import SearchQuery, compared
from apps.retrieval.search import Exclusion, Ranking, SearchHit

MOST_SCORED = 60  # memories that are listed; all of them are counted
MOST_UNSCORED = 40


@dataclass(frozen=True, slots=True)
class Recall:
    """What a search considered, and the block; None if it was not asked for.

    `scored` is in order of the scores, at most MOST_SCORED and all results; `excluded` counts all compared memories
    that are no result. `unscored` has the latest of `unscored_count`.
    """

    scored: tuple[SearchHit, ...]
    scored_count: int
    excluded: Mapping[Exclusion, int]
    unscored: tuple[SearchHit, ...]
    unscored_count: int
    block: ContextBlock | None = None


def explain(ranking: Ranking, *, block: ContextBlock | None = None) -> Recall:
    """List what a search finds and what it leaves out."""
    results = ranking.best(limit=ranking.query.limit)
    listed = list(dict.fromkeys([*ranking.scores.best(limit=MOST_SCORED, min_score=-1.0), *results]))
    exclusions = ranking.exclusions()
    counts = Counter(exclusions.values())
    memories = Memory.objects.for_end_user(ranking.end_user_id)
    rows = compared(ranking.query, of=memories, now=ranking.now)
    others = memories.exclude(id__in=rows.values("id"))
    moment = ranking.query.as_of or ranking.now
    return Recall(
        scored=ranking.hits(listed, exclusions=exclusions),
        scored_count=len(ranking.memories),
        excluded={each: counts[each] for each in Exclusion if counts[each]},
        unscored=tuple(
            SearchHit(memory=each, exclusion=_exclusion_before(each, ranking.query, moment=moment))
            for each in others.to_show().order_by("-said_at", "-id")[:MOST_UNSCORED]
        ),
        unscored_count=others.count(),
        block=block,
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
