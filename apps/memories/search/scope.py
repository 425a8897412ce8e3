"""The memories that a search covers, as SQL: those valid at a time are scored, filters select the possible hits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from apps.memories.filter_sql import filter_condition
from apps.memories.source_sql import SqlCondition, told_by_source
from apps.pipeline.core.agent_scope import UNSCOPED, AgentScope
from apps.pipeline.core.enums import MemoryType, Stakes, Status
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.retrieval.memory_filter import MemoryFilter

# Memories in their version of %(known_at)s. A version row has the values that a change replaced, so the earliest change
# after that time decides. The terms are computed from the content of that version.
_KNOWN_AT = """(
    select past.*, case when changed.before ?| array['content', 'predicate', 'evidence']
                        then content_terms(now.tongue, past.content, past.predicate, now.source_tongue, past.evidence)
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
    """A search: its text and its filters; an empty filter does not restrict the result."""

    text: str = ""
    limit: int = 10
    types: tuple[MemoryType, ...] = ()
    topics: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()  # a hit has all of them
    entities: tuple[UUID, ...] = ()  # a hit has any of them as subject or object
    told_in: AgentScope = UNSCOPED  # one source of a hit has all that is named; without an agent: shared memories
    metadata: Mapping[str, Any] = field(default_factory=dict)  # the same source contains all of it
    filter: MemoryFilter | None = None
    said_from: datetime | None = None
    said_to: datetime | None = None
    statuses: tuple[Status, ...] = ()  # empty: those that the stakes allow
    stakes: Stakes = Stakes.NORMAL
    min_confidence: float = 0.0
    min_score: float = 0.0  # of hits, see SearchHit.score
    as_of: datetime | None = None  # valid time: statements that were true then, as known now
    known_at: datetime | None = None  # transaction time: memories stored by then, in their version of then


@dataclass(frozen=True, slots=True)
class SearchScope:
    """SQL fragments on the row alias `m`, with their parameters.

    A plain scope is the present without filters, or with an agent alone. Most searches have one, and its result can be
    cached per end user and agent until a memory changes.
    """

    rows: str  # the table or subquery
    terms: str  # the column of the terms
    searched: str  # condition for rows that are scored
    eligible: str  # condition for scored rows that may be hits
    values: Mapping[str, Any]
    is_plain: bool = False
    agent_id: str = ""


def search_scope(query: SearchQuery, *, policy: RetrievalPolicy, now: datetime) -> SearchScope:
    """Return the memories that a search covers, by valid time and transaction time."""
    least, *filters = _filters(query, policy)
    values = {"moment": query.as_of or query.known_at or now, **_agent_values(query.told_in)}
    for each in (least, *filters):
        values |= each.values
    if query.known_at:
        values["known_at"] = query.known_at
    return SearchScope(
        rows=_KNOWN_AT if query.known_at else "memories_memory",
        terms="m.terms_then" if query.known_at else "m.terms",
        searched=" and ".join(_searched(query)),
        eligible=" and ".join(each.text for each in (least, *filters)),
        values=values,
        is_plain=not (query.as_of or query.known_at or query.statuses or filters) and query.stakes is not Stakes.LOW,
        agent_id=query.told_in.agent_id,
    )


def shown_statuses(stakes: Stakes) -> list[Status]:
    """Return the statuses that may be shown; memories that wait for review only at low stakes."""
    return [Status.ACTIVE, Status.PENDING_REVIEW] if stakes is Stakes.LOW else [Status.ACTIVE]


def _searched(query: SearchQuery) -> list[str]:
    # Literals, so that partial indexes match.
    statuses = ", ".join(f"'{each.value}'" for each in searched_statuses(query))
    told = _TOLD_BY_AGENT if query.told_in.agent_id else "m.private_to = ''"
    conditions = [f"m.status in ({statuses})", told, "(m.expires_at is null or m.expires_at > %(moment)s)"]
    if query.as_of:
        conditions.append("m.valid_from <= %(moment)s")
    if query.as_of or not query.statuses:
        conditions.append("(m.valid_until is null or m.valid_until > %(moment)s)")
    return conditions


# What is private to another agent has no source in this one.
_TOLD_BY_AGENT = "(m.agent_id = %(agent)s or m.further_sources @> %(agent_source)s)"


def _agent_values(scope: AgentScope) -> dict[str, Any]:
    if not scope.agent_id:
        return {}
    return {"agent": scope.agent_id, "agent_source": Jsonb([{"agent_id": scope.agent_id}])}


def _filters(query: SearchQuery, policy: RetrievalPolicy) -> list[SqlCondition]:
    """Return the filters in use; the first one, the least confidence, is always in use."""
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
        ("m.said_at >= %(said_from)s", "said_from", query.said_from),
        ("m.said_at <= %(said_to)s", "said_to", query.said_to),
    ]
    columns = [SqlCondition(text, {name: value}) for text, name, value in filters if value]
    confident = SqlCondition("m.confidence >= %(least)s", {"least": least})
    scope = query.told_in if query.told_in.app_id or query.told_in.run_id or query.metadata else UNSCOPED
    filtered = [filter_condition(query.filter)] if query.filter else []
    return [confident, *columns, *told_by_source(scope=scope, metadata=query.metadata), *filtered]


def searched_statuses(query: SearchQuery) -> Sequence[Status]:
    """Return the requested statuses, or those that may be shown; superseded ones only with `as_of`."""
    if query.statuses:
        return query.statuses
    history = [Status.SUPERSEDED] if query.as_of else []
    return shown_statuses(query.stakes) + history
