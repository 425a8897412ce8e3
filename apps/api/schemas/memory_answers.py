"""Shapes of answers under /v1/memories."""

from datetime import datetime
from typing import Any

from apps.api.schemas.common import Answer
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
from apps.pipeline.core.identifiers import Prefix, show


class EntityReference(Answer):
    """An entity that a memory names."""

    id: str
    name: str
    type: EntityType


class MemoryAnswer(Answer):
    """One memory. `confidence_parts` sum up to `confidence`, within 0 and its cap."""

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
    metadata: dict[str, Any]
    language: str
    event_at: datetime | None
    event_precision: str
    said_at: datetime
    valid_from: datetime
    valid_until: datetime | None
    superseded_by: str | None
    expires_at: datetime | None
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
    created_at: datetime
    updated_at: datetime


class MemoryPage(Answer):
    """Memories, the newest first."""

    next: str | None
    previous: str | None
    results: list[MemoryAnswer]


class StoredMemories(Answer):
    """Memories as they were stored, in the order of the request."""

    memories: list[MemoryAnswer]


class OriginAnswer(Answer):
    """One turn that says a memory, with the words that do."""

    turn: str
    trace_id: str
    session_id: str
    role: Role
    evidence: str
    said_at: datetime


class LinkAnswer(Answer):
    """Another memory that can't be right at the same time, or may say the same."""

    id: str
    kind: LinkKind
    status: LinkStatus
    memory_id: str


class MemoryDetail(MemoryAnswer):
    """A memory with the turns that say it and its links to others."""

    origins: list[OriginAnswer]
    links: list[LinkAnswer]


class VersionAnswer(Answer):
    """What a change replaced: the former values of the fields that it touched, and when they were believed."""

    version: int
    operation: str
    actor: str
    trace_id: str | None
    values: dict[str, Any]
    known_from: datetime
    known_until: datetime


class HistoryAnswer(Answer):
    """A memory as it stands, and its changes from the first on."""

    memory: MemoryAnswer
    versions: list[VersionAnswer]


def memory_answer(memory: Memory) -> MemoryAnswer:
    """Show a memory; its subject, end user and session are read with it (Memory.objects.to_show)."""
    return MemoryAnswer(**memory_fields(memory))


def memory_detail(memory: Memory, *, origins: list[MemoryOrigin], links: list[MemoryLink]) -> MemoryDetail:
    """Show a memory with its origins and links."""
    return MemoryDetail(
        **memory_fields(memory),
        origins=[_origin(origin) for origin in origins],
        links=[_link(link, memory) for link in links],
    )


def history_answer(memory: Memory, *, versions: list[MemoryVersion]) -> HistoryAnswer:
    """Show a memory with its history."""
    return HistoryAnswer(memory=memory_answer(memory), versions=[_version(version) for version in versions])


def memory_fields(memory: Memory) -> dict[str, Any]:
    """Return what every shape of a memory shows."""
    return {
        **_plain(memory),
        "id": memory.shown_id,
        "user_id": memory.end_user.external_id,
        "status": Status(memory.status),
        "type": MemoryType(memory.type),
        "subject": _reference(memory),
        "polarity": Polarity(memory.polarity),
        "superseded_by": _shown(Prefix.MEMORY, memory.superseded_by_id),
        "source_confidence": SourceConfidence(memory.source_confidence),
        "grounding": Grounding(memory.grounding),
        "speech_act": SpeechAct(memory.speech_act),
        "role": Role(memory.role),
        "trace_id": _shown(Prefix.TRACE, memory.trace_id),
        "session_id": memory.session.external_id if memory.session else None,
    }


_PLAIN = (
    "version content predicate object object_text stateful topic tags metadata language event_at event_precision"
    " said_at valid_from valid_until expires_at confidence confidence_parts importance recurrence review_reasons"
    " extractor evidence created_at updated_at"
).split()


def _plain(memory: Memory) -> dict[str, Any]:
    return {name: getattr(memory, name) for name in _PLAIN}


def _shown(prefix: Prefix, identifier: Any) -> str | None:
    return show(prefix, identifier) if identifier else None


def _reference(memory: Memory) -> EntityReference | None:
    entity = memory.subject
    return EntityReference(id=entity.shown_id, name=entity.name, type=EntityType(entity.type)) if entity else None


def _origin(origin: MemoryOrigin) -> OriginAnswer:
    return OriginAnswer(
        turn=show(Prefix.TURN, origin.turn_id),
        trace_id=show(Prefix.TRACE, origin.trace_id),
        session_id=origin.session.external_id,
        role=Role(origin.role),
        evidence=origin.evidence,
        said_at=origin.said_at,
    )


def _link(link: MemoryLink, memory: Memory) -> LinkAnswer:
    other = link.to_memory_id if link.from_memory_id == memory.id else link.from_memory_id
    return LinkAnswer(
        id=show(Prefix.LINK, link.id),
        kind=LinkKind(link.kind),
        status=LinkStatus(link.status),
        memory_id=show(Prefix.MEMORY, other),
    )


def _version(version: MemoryVersion) -> VersionAnswer:
    return VersionAnswer(
        version=version.version,
        operation=version.operation,
        actor=version.actor,
        trace_id=_shown(Prefix.TRACE, version.trace_id),
        values=version.values,
        known_from=version.known_from,
        known_until=version.known_until,
    )
