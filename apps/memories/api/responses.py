"""Response schemas of /v1/memories."""

from collections.abc import Iterable, Mapping
from typing import Any

from apps.api.actors import ActorResponse, actor_response
from apps.api.schemas import AdjustmentResponse, Moment, PageBody, ResponseBody, response_of
from apps.memories.models import Memory, MemoryLink, MemoryOrigin, MemoryVersion
from apps.pipeline.core.enums import (
    EntityType,
    Grounding,
    LinkKind,
    LinkStatus,
    MemoryType,
    Polarity,
    Role,
    SourceConfidence,
    SpeechAct,
    Status,
)
from apps.pipeline.core.identifiers import Prefix, show, with_prefixes
from apps.pipeline.direct_write.outcomes import StoreOutcome, StoreResult


class EntityReference(ResponseBody):
    """An entity that a memory refers to."""

    id: str
    name: str
    type: EntityType


class SourceResponse(ResponseBody):
    """A request that told a memory: agent, application and run, with the metadata that it sent."""

    agent_id: str | None
    app_id: str | None
    run_id: str | None
    metadata: dict[str, Any]


class MemoryResponse(ResponseBody):
    """A memory. `confidence_parts` add up to `confidence`, limited to the range from 0 to its cap.

    `agent_id`, `app_id`, `run_id` and `metadata` are those of the request that told it first; `further_sources` has the
    others. `private_to` is the agent that alone is told of it; null: all agents of the user are.
    """

    id: str
    user_id: str
    version: int
    status: Status
    type: MemoryType
    content: str
    subject: EntityReference | None
    predicate: str
    object: dict[str, Any]
    object_text: str
    polarity: Polarity
    stateful: bool
    topic: str
    tags: list[str]
    agent_id: str | None
    app_id: str | None
    run_id: str | None
    metadata: dict[str, Any]
    further_sources: list[SourceResponse]
    private_to: str | None
    language: str
    event_at: Moment | None
    event_precision: str
    said_at: Moment
    valid_from: Moment
    valid_until: Moment | None
    superseded_by: str | None
    expires_at: Moment | None
    confidence: float
    confidence_parts: dict[str, float | None]
    source_confidence: SourceConfidence
    grounding: Grounding
    speech_act: SpeechAct
    importance: float
    recurrence: int
    review_reasons: list[str]
    role: Role
    extractor: str
    evidence: str
    trace_id: str | None
    session_id: str | None
    created_at: Moment
    updated_at: Moment


class MemoryList(PageBody):
    """Memories, newest first."""

    results: list[MemoryResponse]


class StoreOutcomeResponse(ResponseBody):
    """What became of a memory: stored, merged into a known one, superseded by a later value, or waiting for review.

    `may_conflict_with` names known memories that contradict it, or that are alike and differ in a number, date or name:
    all of them stay as they are until they are revised or retracted.
    """

    id: str
    outcome: StoreResult
    supersedes: list[str]
    review_reasons: list[str]
    may_conflict_with: list[str]


class StoredMemoriesResponse(ResponseBody):
    """The stored memories and their outcomes, in the order of the request.

    `adjusted`: what was stored otherwise than it was sent.
    """

    results: list[MemoryResponse]
    outcomes: list[StoreOutcomeResponse]
    adjusted: list[AdjustmentResponse]


class OriginResponse(ResponseBody):
    """A turn that supports a memory, with the quoted words."""

    turn: str
    trace_id: str
    session_id: str
    role: Role
    evidence: str
    said_at: Moment


class LinkResponse(ResponseBody):
    """A link to another memory that contradicts this one or may duplicate it."""

    id: str
    kind: LinkKind
    status: LinkStatus
    memory_id: str


class MemoryDetailResponse(MemoryResponse):
    """A memory with its source turns and its links to other memories."""

    origins: list[OriginResponse]
    links: list[LinkResponse]


class VersionResponse(ResponseBody):
    """A past version: the former values of the changed fields, and when they were current."""

    version: int
    operation: str
    actor: ActorResponse
    trace_id: str | None
    values: dict[str, Any]
    known_from: Moment
    known_until: Moment


class HistoryResponse(ResponseBody):
    """The current memory and its changes, oldest first."""

    memory: MemoryResponse
    versions: list[VersionResponse]


def outcome_response(outcome: StoreOutcome) -> StoreOutcomeResponse:
    """Return the outcome of a memory that was stored directly."""
    return StoreOutcomeResponse(
        id=show(Prefix.MEMORY, outcome.memory_id),
        outcome=outcome.result,
        supersedes=[show(Prefix.MEMORY, each) for each in outcome.supersedes],
        review_reasons=list(outcome.review_reasons),
        may_conflict_with=[show(Prefix.MEMORY, each) for each in outcome.may_conflict_with],
    )


def memory_response(memory: Memory) -> MemoryResponse:
    """Convert a memory read with its subject, end user and session (Memory.objects.to_show)."""
    return MemoryResponse(**memory_fields(memory))


def memory_detail_response(
    memory: Memory, *, origins: Iterable[MemoryOrigin], links: Iterable[MemoryLink]
) -> MemoryDetailResponse:
    """Convert a memory with its origins and links."""
    return MemoryDetailResponse(
        **memory_fields(memory),
        origins=[
            response_of(
                OriginResponse,
                origin,
                turn=show(Prefix.TURN, origin.turn_id),
                trace_id=show(Prefix.TRACE, origin.trace_id),
                session_id=origin.session.external_id,
            )
            for origin in origins
        ],
        links=[_link(link, memory) for link in links],
    )


def history_response(memory: Memory, *, versions: Iterable[MemoryVersion]) -> HistoryResponse:
    """Convert a memory with its history."""
    return HistoryResponse(
        memory=memory_response(memory),
        versions=[
            response_of(
                VersionResponse,
                version,
                actor=actor_response(version.actor),
                trace_id=_public_id(Prefix.TRACE, version.trace_id),
                values=with_prefixes(version.values),
            )
            for version in versions
        ],
    )


def memory_fields(memory: Memory) -> dict[str, Any]:
    """Return the fields that every response with a memory contains."""
    about = memory.subject
    own = {
        "id": memory.shown_id,
        "user_id": memory.end_user.external_id,
        "subject": response_of(EntityReference, about, id=about.shown_id) if about else None,
        "agent_id": memory.agent_id or None,
        "app_id": memory.app_id or None,
        "run_id": memory.run_id or None,
        "further_sources": [_source(each) for each in memory.further_sources],
        "private_to": memory.private_to or None,
        "superseded_by": _public_id(Prefix.MEMORY, memory.superseded_by_id),
        "trace_id": _public_id(Prefix.TRACE, memory.trace_id),
        "session_id": memory.session.external_id if memory.session else None,
    }
    return {name: own[name] if name in own else getattr(memory, name) for name in MemoryResponse.__struct_fields__}


def _source(source: Mapping[str, Any]) -> SourceResponse:
    scope = {name: source[name] or None for name in ("agent_id", "app_id", "run_id")}
    return SourceResponse(**scope, metadata=source["metadata"])


def _public_id(prefix: Prefix, identifier: Any) -> str | None:
    return show(prefix, identifier) if identifier else None


def _link(link: MemoryLink, memory: Memory) -> LinkResponse:
    other = link.to_memory_id if link.from_memory_id == memory.id else link.from_memory_id
    return response_of(LinkResponse, link, id=show(Prefix.LINK, link.id), memory_id=show(Prefix.MEMORY, other))
