"""Read the memories of a context block: hits of a search, and what is told whatever is asked, in three round trips.

The columns that a search reads tell rules, facts and events as well, so these need no statements of their own.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from apps.memories.models import Memory
from apps.memories.reading.hydrate import read_memories
from apps.memories.search.ranked_search import RankedMemories, SearchHit, hits_at, rank_all
from apps.memories.search.scope import SearchQuery
from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.core.ports import Embedder
from apps.pipeline.retrieval.block_choice import most_important, upcoming

# Open contradictions between memories that are both live; the others need no decision any more.
_DISPUTES = """
select link.from_memory_id, link.to_memory_id from memories_memorylink link
join memories_memory origin on origin.id = link.from_memory_id and origin.end_user_id = link.end_user_id
join memories_memory target on target.id = link.to_memory_id and target.end_user_id = link.end_user_id
where link.end_user_id = %(end_user)s and link.status = 'open' and link.kind = 'contradicts'
  and origin.status in ('active', 'pending_review') and target.status in ('active', 'pending_review')
  and (link.from_memory_id = any(%(ids)s) or link.to_memory_id = any(%(ids)s))
order by link.created_at desc limit %(most)s
"""


@dataclass(frozen=True, slots=True)
class BlockLimits:
    """The largest numbers of memories to read."""

    rules: int
    facts: int
    upcoming: int
    disputes: int


@dataclass(frozen=True, slots=True)
class BlockMemories:
    """The memories of a block: rules and facts by importance, events in their order.

    `disputes` has the other sides of open contradictions by memory, the latest said first.
    """

    hits: tuple[SearchHit, ...]
    rules: tuple[Memory, ...]
    facts: tuple[Memory, ...]
    upcoming: tuple[Memory, ...]
    disputes: Mapping[UUID, Sequence[Memory]]


def read_block(
    *,
    end_user_id: UUID,
    query: SearchQuery,
    limits: BlockLimits,
    embedder: Embedder,
    policy: RetrievalPolicy,
    now: datetime,
) -> BlockMemories:
    """Search, choose what else is told, and read all of it. Raises whatever the embedder raises."""
    ranked = rank_all(end_user_id=end_user_id, query=query, embedder=embedder, policy=policy, now=now)
    hits = ranked.best(limit=query.limit, min_score=query.min_score).tolist()
    rules, facts, events = _told_always(ranked, limits, now)
    ids = {place: ranked.columns.id_at(place) for place in (*hits, *rules, *facts, *events)}
    links = _disputes(end_user_id, list(ids.values()), limits.disputes) if ids else []
    read = list({*ids.values(), *(side for link in links for side in link)})
    found = read_memories(end_user_id=end_user_id, ids=read) if read else {}

    def rows(places: Sequence[int]) -> tuple[Memory, ...]:
        return tuple(found[ids[place]].memory for place in places if ids[place] in found)

    return BlockMemories(
        hits=hits_at(ranked=ranked, places=hits, found=found),
        rules=rows(rules),
        facts=rows(facts),
        upcoming=rows(events),
        disputes=_others(links, {memory_id: each.memory for memory_id, each in found.items()}),
    )


def _told_always(ranked: RankedMemories, limits: BlockLimits, now: datetime) -> tuple[list[int], list[int], list[int]]:
    """Return the positions of rules, facts and upcoming events."""
    memories, kinds, eligible = ranked.columns.memories, ranked.columns.kinds, ranked.columns.eligible
    rules = most_important(memories=memories, among=eligible & kinds.are_rules, limit=limits.rules)
    facts = most_important(memories=memories, among=eligible & ~kinds.are_events, limit=limits.facts)
    events = upcoming(memories=memories, kinds=kinds, among=eligible, now=now.timestamp(), limit=limits.upcoming)
    return rules.tolist(), facts.tolist(), events.tolist()


def _disputes(end_user_id: UUID, ids: list[UUID], most: int) -> list[tuple[UUID, UUID]]:
    with connection.cursor() as cursor:
        cursor.execute(_DISPUTES, {"end_user": end_user_id, "ids": ids, "most": most})
        return [(origin, target) for origin, target in cursor.fetchall()]


def _others(links: Sequence[tuple[UUID, UUID]], rows: Mapping[UUID, Memory]) -> dict[UUID, list[Memory]]:
    """Return, for each memory with an open contradiction, the memories on the other sides, the latest said first."""
    others: dict[UUID, list[Memory]] = defaultdict(list)
    for one, other in links:
        if one in rows and other in rows:
            others[one].append(rows[other])
            others[other].append(rows[one])
    return {memory_id: sorted(each, key=lambda row: row.said_at, reverse=True) for memory_id, each in others.items()}
