"""Views of POST /v1/memories/search and POST /v1/context."""

from collections.abc import Mapping
from typing import Annotated, Any, get_type_hints
from uuid import UUID

from django.utils import timezone
from msgspec import UNSET, Meta, UnsetType, defstruct
from rest_framework.request import Request

from apps.api.base import ApiView
from apps.api.operations import operation
from apps.api.schemas import (
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
    response_of,
)
from apps.memories.api.requests import MAX_ENTITIES, Tag
from apps.memories.api.responses import MemoryResponse, memory_fields
from apps.memories.filter import MemoryFilter, parse_filter, wanted_statuses
from apps.memories.models.memory import is_past_plan
from apps.pipeline.core.enums import MemoryType, Scope, Stakes, Status
from apps.pipeline.core.identifiers import BadIdentifier, Prefix, parse, show
from apps.pipeline.core.input_validation import BadInput, TooLarge, checked_moment, checked_name
from apps.retrieval.context import ContextQuery
from apps.retrieval.query import SearchQuery, shown_statuses
from apps.retrieval.search import SearchHit
from apps.search.services import (
    SearchResult,
    build_context,
    search_memories,
)

Question = Annotated[str, Meta(extra_json_schema={"maxLength": CONTENT_CHARACTERS})]


Filter = Annotated[
    dict[str, Any],
    Meta(description="Conditions on fields, combined with AND, OR and NOT: see docs/filters.md."),
]


class SearchBody(AgentScopeBody, kw_only=True):
    """A query with filters; a blank query returns the most important memories, whatever `min_score` is.

    A memory must have all `tags` and one of `entities` as its subject or object. `agent_id`, `app_id`, `run_id` and
    `metadata` select what one request told that named all of them; without `agent_id`, what is private to an agent is
    left out. `filter` combines conditions with AND, OR and NOT (docs/filters.md); the statuses that it names are
    searched as well. `since` and `until` limit when it was said. `as_of` selects what was true at a moment. Memories
    with a score below `min_score` are left out; without it, the setting of the project holds (0.115). `fields` names
    further fields of the results, as in GET /v1/memories/{id}, or "all"; `explain` adds all of them and how each result
    was scored.
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
    statuses: tuple[Status, ...] = ()
    since: DayStart | None = None
    until: DayEnd | None = None
    stakes: Stakes = Stakes.NORMAL
    as_of: DayEnd | None = None
    min_confidence: Share = 0.0
    min_score: Share | None = None
    fields: Annotated[tuple[str, ...], Meta(max_length=50)] = ()
    explain: bool = False


class ExplanationResponse(ResponseBody):
    """How a result was scored.

    `parts` compare the memory with the others; their sum is its relevance. `evidence` has the shares of the query's
    words and meaning that the memory itself has. The score is the relevance, lowered where there is little evidence.
    """

    parts: dict[str, float]
    evidence: dict[str, float]


class ShortMemoryResponse(ResponseBody):
    """A memory in short, with its `score`: how much it has to do with the query, from 0 (nothing) to 1.

    Scores are comparable between queries, and results are in their order. `unverified` memories await review.
    `disputed` memories contradict those in `contradicted_by`: nobody has settled it yet, or both were said to be true,
    and their periods overlap. A `past_plan` was told before its day, which is over: nobody has said that it happened.
    """

    id: str
    content: str
    type: MemoryType
    said_at: Moment
    score: float
    tags: list[str]
    metadata: dict[str, Any]
    version: int  # which a correction names
    unverified: bool
    past_plan: bool
    disputed: bool
    contradicted_by: list[str] | UnsetType = UNSET
    explanation: ExplanationResponse | UnsetType = UNSET


FURTHER_FIELDS = tuple(
    name for name in MemoryResponse.__struct_fields__ if name not in ShortMemoryResponse.__struct_fields__
)
_KINDS = get_type_hints(MemoryResponse, include_extras=True)
FoundMemoryResponse: Any = defstruct(
    "FoundMemoryResponse",
    [(name, _KINDS[name] | UnsetType, UNSET) for name in FURTHER_FIELDS],
    bases=(ShortMemoryResponse,),
    namespace={"__doc__": ShortMemoryResponse.__doc__},
    frozen=True,
    kw_only=True,
)


class WaitingMessageResponse(ResponseBody):
    """A message that was accepted and waits to be processed: what the user said, not what is known."""

    turn_id: str
    session_id: str
    content: str
    said_at: Moment


class SearchResponse(ResponseBody):
    """Search results, best first; `nothing_found` says that no memory answers the query.

    `closest` has what came nearest then, if the search is explained. `waiting` has messages that are not processed yet
    and share a word with the query, the latest first; a search with conditions has none.
    """

    results: list[FoundMemoryResponse]
    nothing_found: bool
    closest: list[FoundMemoryResponse] | UnsetType = UNSET
    waiting: list[WaitingMessageResponse] = []


class ContextBody(AgentScopeBody, kw_only=True):
    """The purpose of a context block and its token budget.

    Memories with a score of at least `min_score` for the query come first; without it, the setting of the project
    holds. `agent_id`, `app_id` and `run_id` select as in a search.
    """

    user_id: Identifier
    query: Question = ""
    token_budget: Annotated[int, Meta(ge=1, le=32_000)] = 1_000
    stakes: Stakes = Stakes.NORMAL
    min_score: Share | None = None


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
        said_from=checked_moment(body.since, at="/since"),
        said_to=checked_moment(body.until, at="/until"),
        as_of=checked_moment(body.as_of, at="/as_of"),
    )


def _statuses(body: SearchBody, wanted: MemoryFilter | None) -> tuple[Status, ...]:
    """Return the statuses to search; those that a filter names come beside those that are shown anyway."""
    named = wanted_statuses(wanted) if wanted and not body.statuses else ()
    return (*shown_statuses(body.stakes), *named) if named else body.statuses


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


def checked_fields(body: SearchBody) -> frozenset[str]:
    """Return the further fields of results that a body asks for. Raises BadInput."""
    if body.explain or "all" in body.fields:
        return frozenset(FURTHER_FIELDS)
    for place, name in enumerate(body.fields):
        if name not in FURTHER_FIELDS and name not in ShortMemoryResponse.__struct_fields__:
            raise BadInput(
                f'is no field of a memory; known are {", ".join(FURTHER_FIELDS)} and "all"', at=f"/fields/{place}"
            )
    return frozenset(body.fields) & frozenset(FURTHER_FIELDS)


def search_response(found: SearchResult, *, fields: frozenset[str], explain: bool) -> SearchResponse:
    """Convert the result of a search."""
    closest = [_found_memory(hit, fields, explain=True) for hit in found.closest] if explain else UNSET
    return SearchResponse(
        results=[_found_memory(hit, fields, explain=explain) for hit in found.hits],
        nothing_found=not found.hits,
        closest=closest,
        waiting=[
            response_of(WaitingMessageResponse, each, turn_id=show(Prefix.TURN, each.turn_id)) for each in found.waiting
        ],
    )


def _found_memory(hit: SearchHit, fields: frozenset[str], *, explain: bool) -> Any:
    memory = hit.memory
    further = memory_fields(memory) if fields else {}
    return FoundMemoryResponse(
        id=memory.shown_id,
        content=memory.content,
        type=MemoryType(memory.type),
        said_at=memory.said_at,
        score=hit.score,
        tags=memory.tags,
        metadata=memory.metadata,
        version=memory.version,
        unverified=hit.is_unverified,
        past_plan=is_past_plan(memory, now=timezone.now()),
        disputed=bool(hit.contradicted_by),
        contradicted_by=[show(Prefix.MEMORY, each) for each in hit.contradicted_by] or UNSET,
        explanation=_explanation(hit) if explain else UNSET,
        **{name: further[name] for name in fields},
    )


def _explanation(hit: SearchHit) -> ExplanationResponse:
    return ExplanationResponse(parts=_rounded(hit.parts), evidence=_rounded(hit.evidence))


def _rounded(parts: Mapping[str, float]) -> dict[str, float]:
    return {name: round(part, 4) for name, part in parts.items()}


class SearchView(ApiView):
    """Search of memories."""

    scopes = {"POST": Scope.READ}

    @operation(
        "search_memories",
        summary="Search memories",
        example={"user_id": "ana", "query": "Where does Ana live?", "limit": 5},
        repeatable=True,
    )
    def post(self, request: Request, body: SearchBody) -> SearchResponse:
        """Search the memories of one end user by keywords and by meaning, best first."""
        fields = checked_fields(body)
        found = search_memories(
            project_id=self.caller.project_id,
            user_id=checked_name(body.user_id, at="/user_id"),
            query=search_query(body),
            in_short=not fields,
            with_closest=body.explain,
        )
        return search_response(found, fields=fields, explain=body.explain)


class ContextView(ApiView):
    """The context block about an end user for an agent's prompt."""

    scopes = {"POST": Scope.READ}

    @operation(
        "build_context",
        summary="Build a context block",
        example={"user_id": "ana", "query": "What should we cook?", "token_budget": 800},
        repeatable=True,
    )
    def post(self, request: Request, body: ContextBody) -> ContextResponse:
        """Build a text block about an end user for an agent's prompt, marked so that it is never extracted again."""
        block = build_context(
            project_id=self.caller.project_id,
            user_id=checked_name(body.user_id, at="/user_id"),
            query=context_query(body),
        )
        return response_of(
            ContextResponse,
            block,
            context=block.text,
            memory_ids=[show(Prefix.MEMORY, memory_id) for memory_id in block.memory_ids],
        )
