"""Shapes of POST /v1/memories/search and POST /v1/context."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from msgspec import Meta

from apps.actions.memories.build_context import ContextResult
from apps.api.schemas.common import (
    CONTENT_CHARACTERS,
    Answer,
    Body,
    Identifier,
    Metadata,
    Share,
    Topic,
    checked_metadata,
)
from apps.api.schemas.memories import Tag
from apps.api.schemas.memory_answers import MemoryAnswer, memory_fields
from apps.memories.context import ContextQuery
from apps.memories.search import SearchHit, SearchQuery
from apps.pipeline.core.enums import MemoryType, Stakes, Status
from apps.pipeline.core.identifiers import BadIdentifier, Prefix, parse, show
from apps.pipeline.core.input_validation import BadInput, TooLarge, checked_moment

MAX_ENTITIES = 20

Question = Annotated[str, Meta(extra_json_schema={"maxLength": CONTENT_CHARACTERS})]


class SearchBody(Body, rename={"from_": "from"}):
    """What is looked for, and among which memories; a blank query finds the most important ones.

    Every one of `tags` and all of `metadata` must be there, one of `entities` as subject or object. `from` and `to`
    bound when it was said. `as_of` asks for what was true at a moment, `known_at` for what had been written by then,
    as it was worded then.
    """

    user_id: Identifier
    query: Question
    limit: Annotated[int, Meta(ge=1, le=100)] = 10
    types: tuple[MemoryType, ...] = ()
    topics: tuple[Topic, ...] = ()
    tags: tuple[Tag, ...] = ()
    entities: Annotated[tuple[str, ...], Meta(max_length=MAX_ENTITIES)] = ()
    metadata: Metadata | None = None
    status: tuple[Status, ...] = ()
    from_: datetime | None = None
    to: datetime | None = None
    stakes: Stakes = Stakes.NORMAL
    as_of: datetime | None = None
    known_at: datetime | None = None
    min_confidence: Share = 0.0
    explain: bool = False


class FoundMemory(MemoryAnswer):
    """A memory with its score, 0 to 1. `unverified`: a person still has to look. `parts` sum up to the score."""

    score: float
    unverified: bool
    parts: dict[str, float] | None


class SearchAnswer(Answer):
    """What was found, best first."""

    memories: list[FoundMemory]


class ContextBody(Body):
    """What the block is for, and how many tokens it may take."""

    user_id: Identifier
    query: Question = ""
    token_budget: Annotated[int, Meta(ge=1, le=32_000)] = 1_000
    stakes: Stakes = Stakes.NORMAL


class ContextBlock(Answer):
    """A block for an agent's prompt; empty when nothing is known. `omitted` memories would fit a larger budget."""

    context: str
    tokens: int
    memory_ids: list[str]
    omitted: int


def search_query(body: SearchBody) -> SearchQuery:
    """Return what the caller looks for. Raises BadInput, TooLarge."""
    return SearchQuery(
        text=_question(body.query),
        limit=body.limit,
        types=body.types,
        topics=body.topics,
        tags=body.tags,
        stakes=body.stakes,
        min_confidence=body.min_confidence,
        entities=tuple(_entity(each, at=f"/entities/{place}") for place, each in enumerate(body.entities)),
        metadata=checked_metadata(body.metadata, at="/metadata"),
        statuses=body.status,
        said_from=checked_moment(body.from_, at="/from"),
        said_to=checked_moment(body.to, at="/to"),
        as_of=checked_moment(body.as_of, at="/as_of"),
        known_at=checked_moment(body.known_at, at="/known_at"),
    )


def context_query(body: ContextBody) -> ContextQuery:
    """Return what the caller's block is for. Raises TooLarge."""
    return ContextQuery(token_budget=body.token_budget, text=_question(body.query), stakes=body.stakes)


def _entity(text: str, *, at: str) -> UUID:
    try:
        return parse(Prefix.ENTITY, text)
    except BadIdentifier as error:
        raise BadInput(str(error), at=at) from error


def _question(text: str) -> str:
    if len(text) > CONTENT_CHARACTERS:
        raise TooLarge(f"holds {len(text):,} characters, at most {CONTENT_CHARACTERS:,} are taken", at="/query")
    return text


def found_memory(hit: SearchHit, *, explain: bool) -> FoundMemory:
    """Show a hit."""
    parts = {name: round(part, 4) for name, part in hit.parts.items()} if explain else None
    return FoundMemory(
        **memory_fields(hit.memory), score=round(hit.score, 4), unverified=hit.is_unverified, parts=parts
    )


def context_block(answer: ContextResult) -> ContextBlock:
    """Show a block."""
    block = answer.block
    return ContextBlock(
        context=block.text,
        tokens=block.tokens,
        memory_ids=[show(Prefix.MEMORY, memory_id) for memory_id in block.memory_ids],
        omitted=block.omitted,
    )
