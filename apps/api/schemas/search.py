"""Schemas of POST /v1/memories/search and POST /v1/context."""

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from msgspec import Meta

from apps.actions.memories.build_context import ContextResult
from apps.actions.memories.search_memories import SearchResult
from apps.api.schemas.common import (
    CONTENT_CHARACTERS,
    AgentScopeBody,
    DayEnd,
    DayStart,
    Identifier,
    Metadata,
    Moment,
    ResponseBody,
    Share,
    Topic,
    checked_metadata,
    checked_scope,
)
from apps.api.schemas.memories import Tag
from apps.api.schemas.memory_responses import MemoryResponse, memory_fields
from apps.memories.context import MIN_SCORE, ContextQuery
from apps.memories.search import SearchHit, SearchQuery, shown_statuses
from apps.pipeline.core.enums import MemoryType, Stakes, Status
from apps.pipeline.core.identifiers import BadIdentifier, Prefix, parse, show
from apps.pipeline.core.input_validation import BadInput, TooLarge, checked_moment
from apps.pipeline.retrieval.filter_parser import parse_filter
from apps.pipeline.retrieval.memory_filter import MemoryFilter, wanted_statuses

MAX_ENTITIES = 20

Question = Annotated[str, Meta(extra_json_schema={"maxLength": CONTENT_CHARACTERS})]


Filter = Annotated[
    dict[str, Any],
    Meta(description="Conditions on fields, combined with AND, OR and NOT: see docs/filters.md."),
]


class SearchBody(AgentScopeBody, kw_only=True, rename={"from_": "from"}):
    """A query with filters; a blank query returns the most important memories, whatever `min_score` is.

    A memory must have all `tags` and one of `entities` as its subject or object. `agent_id`, `app_id`, `run_id` and
    `metadata` select what one request told that named all of them; without `agent_id`, what is private to an agent is
    left out. `filter` combines conditions with AND, OR and NOT (docs/filters.md); the statuses that it names are
    searched as well. `from` and `to`
    limit when it was said. `as_of` selects what was true at a moment, `known_at` what had been stored by a moment, in
    the wording of that time. `min_score` leaves out what has less to do with the query; 0.1 keeps out noise.
    """

    user_id: Identifier
    query: Question
    limit: Annotated[int, Meta(ge=1, le=100)] = 10
    types: tuple[MemoryType, ...] = ()
    topics: tuple[Topic, ...] = ()
    tags: tuple[Tag, ...] = ()
    entities: Annotated[tuple[str, ...], Meta(max_length=MAX_ENTITIES)] = ()
    metadata: Metadata | None = None
    filter: Filter | None = None
    status: tuple[Status, ...] = ()
    from_: DayStart | None = None
    to: DayEnd | None = None
    stakes: Stakes = Stakes.NORMAL
    as_of: DayEnd | None = None
    known_at: DayEnd | None = None
    min_confidence: Share = 0.0
    min_score: Share = 0.0
    explain: bool = False


class ExplanationResponse(ResponseBody):
    """How a result was scored and ranked.

    `evidence` has the shares of the query's words and meaning of which the score is made. `rank_parts` add up to
    `rank`, which decides the order within one search.
    """

    evidence: dict[str, float]
    rank: float
    rank_parts: dict[str, float]


class FoundMemoryResponse(MemoryResponse):
    """A memory with its `score`: how much it has to do with the query, from 0 (nothing) to 1.

    Scores are comparable between queries. Results are in order of their rank, which also considers what was said around
    a memory, so a score may be higher than the one before it. `unverified` memories await review. `disputed` memories
    contradict those in `contradicted_by`, and the contradiction is not settled yet.
    """

    score: float
    unverified: bool
    disputed: bool
    contradicted_by: list[str]
    explanation: ExplanationResponse | None


class WaitingMessageResponse(ResponseBody):
    """A message that was accepted and waits to be processed: what the user said, not what is known."""

    turn_id: str
    session_id: str
    content: str
    said_at: Moment


class SearchResponse(ResponseBody):
    """Search results, best first.

    `waiting` has messages that are not processed yet and share a word with the query, the latest first; a search with
    conditions has none.
    """

    results: list[FoundMemoryResponse]
    waiting: list[WaitingMessageResponse] = []


class ContextBody(AgentScopeBody, kw_only=True):
    """The purpose of a context block and its token budget.

    Memories with a score of at least `min_score` for the query come before other facts. `agent_id`, `app_id` and
    `run_id` select as in a search.
    """

    user_id: Identifier
    query: Question = ""
    token_budget: Annotated[int, Meta(ge=1, le=32_000)] = 1_000
    stakes: Stakes = Stakes.NORMAL
    min_score: Share = MIN_SCORE


class ContextResponse(ResponseBody):
    """Text for an agent's prompt; empty if nothing is known. `omitted` counts memories that exceeded the budget."""

    context: str
    tokens: int
    memory_ids: list[str]
    omitted: int


def search_query(body: SearchBody) -> SearchQuery:
    """Convert the body to a search query. Raises BadInput, TooLarge."""
    wanted = None if body.filter is None else parse_filter(body.filter, at="/filter")
    return SearchQuery(
        text=_question(body.query),
        limit=body.limit,
        types=body.types,
        topics=body.topics,
        tags=body.tags,
        stakes=body.stakes,
        min_confidence=body.min_confidence,
        min_score=body.min_score,
        entities=tuple(_entity(each, at=f"/entities/{place}") for place, each in enumerate(body.entities)),
        told_in=checked_scope(body),
        metadata=checked_metadata(body.metadata, at="/metadata"),
        filter=wanted,
        statuses=_statuses(body, wanted),
        said_from=checked_moment(body.from_, at="/from"),
        said_to=checked_moment(body.to, at="/to"),
        as_of=checked_moment(body.as_of, at="/as_of"),
        known_at=checked_moment(body.known_at, at="/known_at"),
    )


def _statuses(body: SearchBody, wanted: MemoryFilter | None) -> tuple[Status, ...]:
    """Return the statuses to search; those that a filter names come beside those that are shown anyway."""
    named = wanted_statuses(wanted) if wanted and not body.status else ()
    return (*shown_statuses(body.stakes), *named) if named else body.status


def context_query(body: ContextBody) -> ContextQuery:
    """Convert the body to a context query. Raises TooLarge."""
    return ContextQuery(
        token_budget=body.token_budget,
        text=_question(body.query),
        stakes=body.stakes,
        min_score=body.min_score,
        told_in=checked_scope(body),
    )


def _entity(text: str, *, at: str) -> UUID:
    try:
        return parse(Prefix.ENTITY, text)
    except BadIdentifier as error:
        raise BadInput(str(error), at=at) from error


def _question(text: str) -> str:
    if len(text) > CONTENT_CHARACTERS:
        raise TooLarge(f"has {len(text):,} characters; the limit is {CONTENT_CHARACTERS:,}", at="/query")
    return text


def found_memory_response(hit: SearchHit, *, explain: bool) -> FoundMemoryResponse:
    """Convert a search hit."""
    return FoundMemoryResponse(
        **memory_fields(hit.memory),
        score=round(hit.score, 4),
        unverified=hit.is_unverified,
        disputed=bool(hit.contradicted_by),
        contradicted_by=[show(Prefix.MEMORY, each) for each in hit.contradicted_by],
        explanation=_explanation(hit) if explain else None,
    )


def search_response(found: SearchResult, *, explain: bool) -> SearchResponse:
    """Convert the result of a search."""
    return SearchResponse(
        results=[found_memory_response(hit, explain=explain) for hit in found.hits],
        waiting=[
            WaitingMessageResponse(
                turn_id=show(Prefix.TURN, each.turn_id),
                session_id=each.session_id,
                content=each.content,
                said_at=each.said_at,
            )
            for each in found.waiting
        ],
    )


def _explanation(hit: SearchHit) -> ExplanationResponse:
    return ExplanationResponse(
        evidence=_rounded(hit.evidence), rank=round(hit.rank, 4), rank_parts=_rounded(hit.rank_parts)
    )


def _rounded(parts: Mapping[str, float]) -> dict[str, float]:
    return {name: round(part, 4) for name, part in parts.items()}


def context_response(answer: ContextResult) -> ContextResponse:
    """Convert a context block."""
    block = answer.block
    return ContextResponse(
        context=block.text,
        tokens=block.tokens,
        memory_ids=[show(Prefix.MEMORY, memory_id) for memory_id in block.memory_ids],
        omitted=block.omitted,
    )
