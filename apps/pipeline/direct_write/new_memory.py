"""Memories that a caller stores as they are: what each becomes, without a funnel."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.pipeline.core.canonical import canonical_hash
from apps.pipeline.core.confidence import Confidence, adjustment_to, confidence_of
from apps.pipeline.core.draft import Candidate, Mention, ObjectValue
from apps.pipeline.core.enums import (
    EntityType,
    Grounding,
    MemoryType,
    Polarity,
    Precision,
    SourceConfidence,
    SpeechAct,
    Status,
)
from apps.pipeline.core.input_validation import BadInput
from apps.pipeline.core.operations import AddMemory
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.predicates import is_stateful
from apps.pipeline.resolution.entity_index import EntityIndex
from apps.pipeline.resolution.name_folding import fold_name

EXTRACTOR = "direct"
_THE_USER = frozenset({"user", "the user"})


@dataclass(frozen=True, slots=True)
class Name:
    """An entity by its name: a known one, or a new one of this type. "User" is the end user."""

    text: str
    type: EntityType = EntityType.OTHER


@dataclass(frozen=True, slots=True)
class NewMemory:
    """One memory as the caller wants it; None stands for the product's own choice."""

    type: MemoryType
    content: str
    subject: Name | None = None
    predicate: str = ""
    object: str | Name | tuple[str, ...] = ""
    polarity: Polarity = Polarity.POSITIVE
    stateful: bool | None = None
    topic: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    language: str = ""
    event_at: datetime | None = None
    event_precision: Precision | None = None
    said_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    superseded_by: UUID | None = None
    status: Status | None = None
    confidence: float | None = None
    source_confidence: SourceConfidence = SourceConfidence.DIRECT
    grounding: Grounding = Grounding.SUPPORTED
    speech_act: SpeechAct = SpeechAct.ASSERTED
    importance: float = 0.5
    session_id: str = ""
    evidence: str = ""
    context: str = ""
    extractor: str = EXTRACTOR


def check_new(new: NewMemory, *, at: str) -> None:
    """Refuse values that contradict each other. Raises BadInput below the pointer `at`."""
    if new.valid_from and new.valid_until and new.valid_until < new.valid_from:
        raise BadInput("must not lie before valid_from", at=f"{at}/valid_until")
    if new.status is Status.SUPERSEDED and new.valid_until is None:
        raise BadInput("is needed: what is superseded has ended", at=f"{at}/valid_until")
    if new.superseded_by is not None and new.status is not Status.SUPERSEDED:
        raise BadInput("is for status superseded only", at=f"{at}/superseded_by")
    if new.object and not new.predicate:
        raise BadInput("is needed: an object says nothing without it", at=f"{at}/predicate")


def add_memory(
    new: NewMemory, *, memory_id: UUID, index: int, directory: EntityIndex, policy: Policy, now: datetime
) -> AddMemory:
    """Turn a new memory into its operation; entities that it names are found in the directory or added to it."""
    candidate = _candidate(new, index=index, directory=directory, reliability=policy.extraction.model_reliability)
    confidence = _confidence(new, candidate, policy)
    said_at = new.said_at or now
    review = confidence.value < policy.confidence.review_below
    return AddMemory(
        memory_id=memory_id,
        candidate=candidate,
        origins=(),
        status=new.status or (Status.PENDING_REVIEW if review else Status.ACTIVE),
        confidence=confidence,
        canonical_hash=canonical_hash(candidate=candidate, subject_id=candidate.subject.entity_id),
        said_at=said_at,
        valid_from=new.valid_from or said_at,
        valid_until=new.valid_until,
        superseded_by=new.superseded_by,
        context=new.context,
        expires_at=new.expires_at,
        metadata=new.metadata,
    )


def _candidate(new: NewMemory, *, index: int, directory: EntityIndex, reliability: float) -> Candidate:
    return Candidate(
        index=index,
        type=new.type,
        subject=_mention(new.subject, directory) if new.subject else Mention(text=""),
        predicate=new.predicate,
        object=_object(new.object, directory),
        content=new.content,
        source_turn_ids=(),
        evidence=new.evidence,
        extractor=new.extractor,
        reliability=reliability,
        source_confidence=new.source_confidence,
        grounding=new.grounding,
        speech_act=new.speech_act,
        polarity=new.polarity,
        stateful=is_stateful(new.predicate) if new.stateful is None else new.stateful,
        importance=new.importance,
        topic=new.topic,
        tags=new.tags,
        event_at=new.event_at,
        event_precision=new.event_precision,
        language=new.language,
    )


def _object(value: str | Name | tuple[str, ...], directory: EntityIndex) -> ObjectValue:
    if isinstance(value, Name):
        return ObjectValue(entity=_mention(value, directory))
    if isinstance(value, tuple):
        return ObjectValue(items=value)
    return ObjectValue(literal=value or None)


def _mention(name: Name, directory: EntityIndex) -> Mention:
    if fold_name(name.text) in _THE_USER:
        entity = directory.user()
    else:
        found = directory.named(name.text, kind=name.type)
        entity = found[0] if found else directory.add(name=name.text, kind=name.type, aliases=(name.text,))
    return Mention(text=name.text, type=entity.type, entity_id=entity.id)


def _confidence(new: NewMemory, candidate: Candidate, policy: Policy) -> Confidence:
    """Score a memory; where the caller gives the figure, the adjustment makes up the difference."""
    computed = confidence_of(
        policy=policy.confidence,
        source_confidence=new.source_confidence,
        reliability=candidate.reliability,
        grounding=new.grounding,
        speech_act=new.speech_act,
    )
    if new.confidence is None:
        return computed
    adjustment = adjustment_to(new.confidence, parts=computed.parts())
    return replace(computed, value=new.confidence, adjustment=adjustment, capped_at=None)
