"""The reading port on PostgreSQL: each call is one round trip, filtered by end user first."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from apps.memories.codec import STORED_WIDTH, read_stored, select_stored
from apps.memories.sql_pipeline import pipelined
from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import EntityType
from apps.pipeline.core.ports import Neighbour, Probe, RelevanceQuery, Slot, Vector
from apps.pipeline.core.statement import StoredMemory
from apps.tenants.constant_statements import fetch_constant, run_constant

_ENTITIES = """
select entity.id, entity.name, entity.type, entity.is_user, entity.mention_count, entity.last_mentioned_at,
       coalesce(array_agg(alias.alias order by alias.count desc, alias.created_at, alias.folded)
                filter (where alias.id is not null), '{}')
from memories_entity entity
left join memories_entityalias alias on alias.end_user_id = entity.end_user_id and alias.entity_id = entity.id
    and not alias.withdrawn
where entity.end_user_id = %s and entity.merged_into_id is null and not entity.withdrawn
group by entity.end_user_id, entity.id order by entity.is_user desc, entity.last_mentioned_at desc, entity.id limit %s
"""

# For each probe: the equal hash, equal sentences, memories without vectors yet, and the nearest.
# They are searched once, also where the planner has no statistics yet and expects a single memory.
_NEIGHBOURS = """
with probe as (
    select * from unnest(
        (select %(numbers)s::int[]), (select %(hashes)s::text[]), (select %(contents)s::text[]),
        (select %(vectors)s::halfvec[])
    ) as probe(number, hash, content, vector)
), found as materialized (
    select probe.number, near.id, near.is_held, near.is_equal, near.cosine
    from probe cross join lateral (
        select m.id, m.canonical_hash = probe.hash as is_held, m.content = probe.content as is_equal,
               -(v.embedding <#> probe.vector) as cosine
        from memories_memory m
        left join memories_memoryvector v on v.end_user_id = m.end_user_id and v.memory_id = m.id
            and v.embedder = %(embedder)s
        where m.end_user_id = %(end_user)s and m.status in ('active', 'pending_review')
            and m.private_to = %(private_to)s
        order by is_held desc, is_equal desc, cosine desc nulls first, m.id limit %(limit)s
    ) near
)
select_stored, found.number, found.cosine
from found join memories_memory m on m.end_user_id = %(end_user)s and m.id = found.id
order by found.number, found.is_held desc, found.is_equal desc, found.cosine desc nulls first, found.id
""".replace("select_stored", select_stored())

_HOLDERS = """
with wanted as (
    select m.id from unnest(%(subjects)s::uuid[], %(predicates)s::text[]) as slot(subject_id, predicate)
    join memories_memory m on m.end_user_id = %(end_user)s and m.subject_id = slot.subject_id
        and m.predicate = slot.predicate
    union select unnest(%(ids)s::uuid[])
)
select_stored
from wanted join memories_memory m on m.end_user_id = %(end_user)s and m.id = wanted.id
    and m.status in ('active', 'pending_review') and m.private_to = %(private_to)s
order by m.said_at, m.id
""".replace("select_stored", select_stored())

_DUPLICATES = """
select_stored
from memories_memory m where m.end_user_id = %(end_user)s and m.status in ('active', 'pending_review')
    and m.private_to = %(private_to)s and (m.canonical_hash = any(%(hashes)s) or m.content = any(%(contents)s))
order by m.said_at, m.id
""".replace("select_stored", select_stored())

_BY_ID = """
select_stored
from memories_memory m where m.end_user_id = %(end_user)s and m.id = %(id)s
""".replace("select_stored", select_stored())

_SEVERAL = """
select_stored
from memories_memory m where m.end_user_id = %(end_user)s and m.id = any(%(ids)s) order by m.id
""".replace("select_stored", select_stored())

_LIVE = """
select_stored
from memories_memory m where m.end_user_id = %(end_user)s and m.status in ('active', 'pending_review') order by m.id
""".replace("select_stored", select_stored())

# One row at least, for the count: of more memories than are wanted, none is read.
_ALL_IF_FEW = """
with few as (
    select count(*) as total from (
        select from memories_memory
        where end_user_id = %(end_user)s and status in ('active', 'pending_review') and private_to = %(private_to)s
        limit %(memories)s + 1
    ) as live
)
select_stored, few.total
from few left join memories_memory m on few.total <= %(memories)s and m.end_user_id = %(end_user)s
    and m.status in ('active', 'pending_review') and m.private_to = %(private_to)s
order by m.id desc
""".replace("select_stored", select_stored())

# The lists take turns: each memory comes at its best place in any of them, equals by the sum of reciprocal places. What
# is nearest to a sentence by its vector and by its words (rare ones count more) and what is about a named entity comes
# first, then memories of the session, then the latest.
_RELEVANT = """
with live as (
    select m.id, m.subject_id, m.session_id, m.created_at, m.event_at, v.embedding, ' ' || lower(m.content) as folded
    from memories_memory m
    left join memories_memoryvector v on v.end_user_id = m.end_user_id and v.memory_id = m.id
        and v.embedder = %(embedder)s
    where m.end_user_id = %(end_user)s and m.status in ('active', 'pending_review')
        and m.private_to = %(private_to)s
), named as (
    select distinct entity_id from memories_entityalias
    where end_user_id = %(end_user)s and not withdrawn and length(alias) > 2 and strpos(%(text)s, lower(alias)) > 0
), matched as (
    select word.sentence, word.stem, live.id
    from unnest(%(sentences)s::int[], %(stems)s::text[]) as word(sentence, stem)
    join live on strpos(live.folded, ' ' || word.stem) > 0
), rarity as (
    select stem, ln(1 + (select count(*) from live) / count(distinct id)::float8) as weight from matched group by stem
), worded as (
    select sentence, id, sum(weight) as weight from matched join rarity using (stem) group by sentence, id
), ranked as (
    select near.id, near.rank
    from unnest(%(vectors)s::halfvec[]) as sentence(vector) cross join lateral (
        select id, row_number() over (order by embedding <#> sentence.vector, id) as rank
        from live where embedding is not null
        order by embedding <#> sentence.vector, id limit %(memories)s
    ) near
    union all
    select id, row_number() over (partition by sentence order by weight desc, id) from worded
    union all
    select id, row_number() over (order by created_at desc, id desc)
    from live where subject_id in (select entity_id from named)
    union all
    select id, row_number() over (order by event_at, id) from live where event_at >= %(now)s::timestamptz
    union all
    select id, 2 + row_number() over (order by created_at desc, id desc)
    from live where session_id = %(session)s or embedding is null
    union all
    select id, 6 + row_number() over (order by created_at desc, id desc) from live
), best as (
    select id, min(rank) as place, sum(1.0 / (10 + rank)) as score from ranked
    group by id order by place, score desc, id desc limit %(memories)s
)
select_stored
from best join memories_memory m on m.end_user_id = %(end_user)s and m.id = best.id
order by best.place, best.score desc, m.id desc
""".replace("select_stored", select_stored())


class PostgresMemoryReader:
    """Reads what is known about one end user from the tables."""

    def entities(self, *, end_user_id: UUID, limit: int) -> tuple[KnownEntity, ...]:
        """Return entities with their aliases, the user first, then the most recently mentioned."""
        return tuple(map(_entity, fetch_constant(_ENTITIES, [end_user_id, limit])))

    def all_if_few(
        self, *, end_user_id: UUID, entities: int, memories: int, private_to: str = ""
    ) -> tuple[tuple[KnownEntity, ...], tuple[StoredMemory, ...] | None]:
        """Return entities as above, and all live memories, or None: two statements sent together."""
        values: dict[str, Any] = {"end_user": end_user_id, "memories": memories, "private_to": private_to}
        with pipelined():
            first, second = run_constant(_ENTITIES, [end_user_id, entities]), run_constant(_ALL_IF_FEW, values)
        known, rows = tuple(map(_entity, first.fetchall())), second.fetchall()
        total = rows[0][STORED_WIDTH]
        return known, None if total > memories else tuple(map(read_stored, rows[:total]))

    def relevant(self, *, query: RelevanceQuery, memories: int) -> tuple[StoredMemory, ...]:
        """Return live memories, the most relevant first."""
        values: dict[str, Any] = {
            "end_user": query.end_user_id,
            "session": query.session_id,
            "embedder": query.embedder,
            "vectors": [_as_text(vector) for vector in query.vectors],
            "text": query.text.lower(),
            "sentences": [number for number, stems in enumerate(query.words) for _ in stems],
            "stems": [stem for stems in query.words for stem in stems],
            "memories": memories,
            "private_to": query.private_to,
            "now": query.now,
        }
        return tuple(map(read_stored, fetch_constant(_RELEVANT, values)))

    def neighbours(
        self, *, end_user_id: UUID, embedder: str, probes: Sequence[Probe], limit: int, private_to: str = ""
    ) -> list[list[Neighbour]]:
        """Return, for each probe, live memories: its hash or sentence, those without vectors, the nearest."""
        if not probes:
            return []
        values = {
            "end_user": end_user_id,
            "embedder": embedder,
            "limit": limit,
            "private_to": private_to,
            "numbers": list(range(len(probes))),
            "hashes": [probe.canonical_hash for probe in probes],
            "contents": [probe.content for probe in probes],
            "vectors": [_as_text(probe.vector) for probe in probes],
        }
        found: list[list[Neighbour]] = [[] for _ in probes]
        for row in fetch_constant(_NEIGHBOURS, values):
            number, cosine = row[STORED_WIDTH:]
            found[number].append(Neighbour(memory=read_stored(row), cosine=cosine))
        return found

    def holders(
        self, *, end_user_id: UUID, slots: Sequence[Slot], ids: Sequence[UUID] = (), private_to: str = ""
    ) -> tuple[StoredMemory, ...]:
        """Return live memories that hold one of the slots or have one of the identifiers, in the order said."""
        if not slots and not ids:
            return ()
        distinct = list(dict.fromkeys(slots))
        values = {
            "end_user": end_user_id,
            "subjects": [slot.subject_id for slot in distinct],
            "predicates": [slot.predicate for slot in distinct],
            "ids": list(ids),
            "private_to": private_to,
        }
        return tuple(read_stored(row) for row in fetch_constant(_HOLDERS, values))

    def duplicates(
        self, *, end_user_id: UUID, hashes: Sequence[str], contents: Sequence[str], private_to: str = ""
    ) -> tuple[StoredMemory, ...]:
        """Return live memories with one of the hashes or wordings, in the order in which they were said."""
        values = {
            "end_user": end_user_id,
            "hashes": list(hashes),
            "contents": list(contents),
            "private_to": private_to,
        }
        return tuple(read_stored(row) for row in fetch_constant(_DUPLICATES, values))

    def several(self, *, end_user_id: UUID, ids: Sequence[UUID]) -> tuple[StoredMemory, ...]:
        """Return the memories with one of the identifiers, live or not."""
        return tuple(read_stored(row) for row in fetch_constant(_SEVERAL, {"end_user": end_user_id, "ids": list(ids)}))

    def live(self, *, end_user_id: UUID) -> tuple[StoredMemory, ...]:
        """Return all live memories of an end user."""
        return tuple(read_stored(row) for row in fetch_constant(_LIVE, {"end_user": end_user_id}))

    def one(self, *, end_user_id: UUID, memory_id: UUID) -> StoredMemory:
        """Return a memory, live or not. Raises LookupError if the end user has no such memory."""
        rows = fetch_constant(_BY_ID, {"end_user": end_user_id, "id": memory_id})
        if not rows:
            raise LookupError(f"there is no memory {memory_id}")
        return read_stored(rows[0])


def _as_text(vector: Vector) -> str:
    """Write a vector as pgvector reads it, in one formatting: vectors are long."""
    return f"[{','.join(['%.6g'] * len(vector)) % tuple(vector)}]"


def _entity(row: Sequence[Any]) -> KnownEntity:
    return KnownEntity(
        id=row[0],
        name=row[1],
        type=EntityType(row[2]),
        is_user=row[3],
        mention_count=row[4],
        last_mentioned_at=row[5],
        aliases=tuple(row[6]),
    )
