"""Which memories a search looks at, as SQL: those believed at a moment give the statistics, filters pick the hits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from apps.pipeline.core.enums import MemoryType, Stakes, Status
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.policy import RetrievalPolicy

# The rows as they stood at a moment: a version row holds what its change replaced, so of the changes after the moment
# the earliest has the last word; the terms follow the words of then.
_KNOWN_THEN = """(
    select past.*, case when changed.before ? 'content' then memory_terms(now.tongue, past.content)
                        else now.terms end as terms_then
    from memories_memory now
    cross join lateral (
        select coalesce(jsonb_object_agg(each.key, each.value order by version.version desc), '{}') as before
        from memories_memoryversion version cross join lateral jsonb_each(version.values) each
        where version.end_user_id = now.end_user_id and version.memory_id = now.id
          and version.known_until > %(known_at)s
    ) changed
    cross join lateral jsonb_populate_record(now, changed.before) past
    where now.end_user_id = %(end_user)s and now.created_at <= %(known_at)s
)"""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What is looked for, and among which memories; empty filters let everything pass."""

    text: str = ""
    limit: int = 10
    types: tuple[MemoryType, ...] = ()
    topics: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()  # all of them
    entities: tuple[UUID, ...] = ()  # any of them, as subject or object
    metadata: Mapping[str, Any] = field(default_factory=dict)  # all of it
    said_from: datetime | None = None
    said_to: datetime | None = None
    statuses: tuple[Status, ...] = ()  # empty: what the stakes allow
    stakes: Stakes = Stakes.NORMAL
    min_confidence: float = 0.0
    min_score: float = 0.0  # of hits, see SearchHit.score
    as_of: datetime | None = None  # valid time: what was true then, as known now
    known_at: datetime | None = None  # knowledge time: what had been written by then, as it was written


@dataclass(frozen=True, slots=True)
class SearchScope:
    """SQL on `m`: where the rows and their terms come from, which are `searched`, which of these may be hits.

    A plain one is that of now, without a filter: most searches are of this kind, and one end user's are of the same
    memories until one of these changes.
    """

    rows: str
    terms: str
    searched: str
    eligible: str
    values: Mapping[str, Any]
    is_plain: bool = False


def search_scope(query: SearchQuery, *, policy: RetrievalPolicy, now: datetime) -> SearchScope:
    """Say which memories take part: those believed at the moment asked for, by valid and by knowledge time."""
    filters = _filters(query, policy)
    values = {
        "moment": query.as_of or query.known_at or now,
        **{name: value for _, name, value in filters},
    }
    if query.known_at:
        values["known_at"] = query.known_at
    return SearchScope(
        rows=_KNOWN_THEN if query.known_at else "memories_memory",
        terms="m.terms_then" if query.known_at else "m.terms",
        searched=" and ".join(_searched(query)),
        eligible=" and ".join(condition for condition, _, _ in filters),
        values=values,
        is_plain=not (query.as_of or query.known_at or query.statuses or filters[1:])
        and query.stakes is not Stakes.LOW,
    )


def shown_statuses(stakes: Stakes) -> list[Status]:
    """Return what may be shown: what waits for a person only at low stakes."""
    return [Status.ACTIVE, Status.PENDING_REVIEW] if stakes is Stakes.LOW else [Status.ACTIVE]


def _searched(query: SearchQuery) -> list[str]:
    statuses = ", ".join(f"'{each.value}'" for each in _statuses(query))  # as constants, for indices that name them
    conditions = [f"m.status in ({statuses})", "(m.expires_at is null or m.expires_at > %(moment)s)"]
    if query.as_of:
        conditions.append("m.valid_from <= %(moment)s")
    if query.as_of or not query.statuses:
        conditions.append("(m.valid_until is null or m.valid_until > %(moment)s)")
    return conditions


def _filters(query: SearchQuery, policy: RetrievalPolicy) -> list[tuple[str, str, Any]]:
    """Return each filter that is asked for as its condition, the name of its value, and the value."""
    least = max(query.min_confidence, policy.least_confidence[query.stakes])
    about = [{"id": str(each), "shown": show(Prefix.ENTITY, each)} for each in query.entities]
    filters: list[tuple[str, str, Any]] = [
        ("m.type = any(%(types)s)", "types", [each.value for each in query.types]),
        ("m.topic = any(%(topics)s)", "topics", list(query.topics)),
        ("m.tags @> %(tags)s::varchar[]", "tags", list(query.tags)),
        (
            "exists (select from jsonb_to_recordset(%(entities)s) about(id uuid, shown text)"
            " where m.subject_id = about.id or m.object->>'entity' = about.shown)",
            "entities",
            Jsonb(about) if about else None,
        ),
        ("m.metadata @> %(metadata)s", "metadata", Jsonb(dict(query.metadata)) if query.metadata else None),
        ("m.said_at >= %(said_from)s", "said_from", query.said_from),
        ("m.said_at <= %(said_to)s", "said_to", query.said_to),
    ]
    return [("m.confidence >= %(least)s", "least", least), *(each for each in filters if each[2])]


def _statuses(query: SearchQuery) -> Sequence[Status]:
    """Return the statuses asked for, or those that may be shown; superseded ones only as of a moment."""
    if query.statuses:
        return query.statuses
    history = [Status.SUPERSEDED] if query.as_of else []
    return shown_statuses(query.stakes) + history
