"""Draft: the one frozen document that travels through the funnel, and the values it is made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from typing import Any, Self
from uuid import UUID

from apps.pipeline.core.enums import (
    EntityType,
    Grounding,
    MemoryType,
    Polarity,
    Precision,
    Role,
    SourceConfidence,
    SpanResult,
    SpeechAct,
    Stage,
    Status,
)
from apps.pipeline.core.model_calls import ModelCallRecord
from apps.pipeline.core.policy import Policy


@dataclass(frozen=True, slots=True)
class SourceTurn:
    """One message as it was accepted."""

    id: UUID
    position: int  # within the session, from 0
    role: Role
    content: str
    received_at: datetime
    speaker: str = ""
    occurred_at: datetime | None = None  # when the caller says it was said; nothing is guessed without it
    external_id: str = ""
    utc_offset: int = 0  # minutes east of UTC, of the clock by which `occurred_at` was told

    @property
    def said_at(self) -> datetime:
        """Return when it was said, as far as is known."""
        return self.occurred_at or self.received_at

    @property
    def local_time(self) -> datetime:
        """Return when it was said by the clock of whoever said it: their "yesterday" counts from its day."""
        return self.said_at.astimezone(timezone(timedelta(minutes=self.utc_offset)))


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request comes from; trust hangs on this and never on the text."""

    project_id: UUID
    end_user_id: UUID
    session_id: UUID
    api_key_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What one trace was asked to remember."""

    trace_id: UUID
    origin: Origin
    turns: tuple[SourceTurn, ...]
    earlier_turns: tuple[SourceTurn, ...] = ()  # of the same session, oldest first, as context only
    topic: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of text that points at an entity; `entity_id` is set once it is resolved."""

    text: str
    type: EntityType | None = None
    is_speaker: bool = False
    entity_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class ObjectValue:
    """The object of a triple: exactly one of a literal, an entity or a list of literals (or nothing at all)."""

    literal: str | None = None
    entity: Mention | None = None
    items: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return the object as plain text, as a comparison sees it."""
        if self.entity is not None:
            return self.entity.text
        return self.literal if self.literal is not None else ", ".join(self.items)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One proposed memory; `index` is its place within the trace and makes a write unique."""

    index: int
    type: MemoryType
    subject: Mention
    predicate: str  # snake_case
    object: ObjectValue
    content: str  # a self-contained sentence that holds the mentions' texts
    source_turn_ids: tuple[UUID, ...]
    evidence: str  # a verbatim quote of a source turn
    extractor: str  # "patterns:<pattern name>" or the model's name
    reliability: float  # of the extractor, 0 to 1
    source_confidence: SourceConfidence = SourceConfidence.DIRECT
    grounding: Grounding = Grounding.SUPPORTED
    speech_act: SpeechAct = SpeechAct.ASSERTED
    polarity: Polarity = Polarity.POSITIVE
    stateful: bool = False  # the predicate holds one true value at a time
    importance: float = 0.5
    topic: str = ""
    tags: tuple[str, ...] = ()
    adjustment: float = 0.0  # the extractor's own correction, -0.2 to 0.2
    event_at: datetime | None = None
    event_precision: Precision | None = None
    # Further spans of `content` that point at entities, beside subject and object.
    mentions: tuple[Mention, ...] = ()
    language: str = ""
    # How the extractor relates it to memories that it was shown; later stages decide whether to follow.
    replaces: tuple[UUID, ...] = ()
    same_as: UUID | None = None
    contradicts: tuple[UUID, ...] = ()
    valid_from: datetime | None = None  # when what it says begins to hold, where the source says so
    valid_from_precision: Precision | None = None
    valid_until: datetime | None = None
    valid_until_precision: Precision | None = None

    def evolve(self, **changes: Any) -> Self:
        """Return a copy with the changes."""
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class Drop:
    """A turn or candidate that went no further, with its reason: data, never an exception."""

    stage: Stage
    reason: str  # a Reason, or "pattern:<rule name>"
    turn_id: UUID | None = None
    candidate: Candidate | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """An entity of the end user as the store knows it."""

    id: UUID
    name: str
    type: EntityType
    aliases: tuple[str, ...] = ()
    is_user: bool = False  # the end user
    mention_count: int = 0
    last_mentioned_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class KnownMemory:
    """A memory of the end user as the store knows it, with the version that a plan is made from."""

    id: UUID
    version: int
    type: MemoryType
    status: Status
    subject_id: UUID | None
    predicate: str
    object_text: str
    content: str
    canonical_hash: str
    polarity: Polarity
    stateful: bool
    confidence: float
    role: Role
    said_at: datetime
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    event_at: datetime | None = None
    # Distinct (session id, ISO day) pairs that said it.
    origins: tuple[tuple[str, str], ...] = ()
    source_confidence: SourceConfidence = SourceConfidence.DIRECT
    grounding: Grounding = Grounding.SUPPORTED
    speech_act: SpeechAct = SpeechAct.ASSERTED
    reliability: float = 0.8
    adjustment: float = 0.0
    evidence: str = ""  # the quote


@dataclass(frozen=True, slots=True)
class Ruling:
    """What is to happen with a surviving candidate: a new memory, or a merge into one that is known."""

    candidate: Candidate
    memory_id: UUID  # of the memory that will hold it
    merge_into: KnownMemory | None = None
    supersedes: tuple[KnownMemory, ...] = ()
    # A late arrival: stored as history that ends when this newer value began.
    superseded_by: KnownMemory | None = None
    contradicts: tuple[KnownMemory, ...] = ()
    possible_duplicates: tuple[KnownMemory, ...] = ()
    content: str = ""  # of a merge: the wording that wins, when it is not the candidate's own
    review_reasons: tuple[str, ...] = ()  # why a person has to look before it is shown
    flags: tuple[str, ...] = ()  # what a person may want to look at, though it is shown
    rule: str = ""  # the rule that decided, for the span
    hash_salted: bool = False  # its triple is known, yet it says something else: another day, another number

    @property
    def needs_review(self) -> bool:
        """Tell whether the memory is hidden until a person has looked."""
        return bool(self.review_reasons)

    def evolve(self, **changes: Any) -> Self:
        """Return a copy with the changes."""
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class StageSpan:
    """What one stage did in one trace."""

    stage: Stage
    result: SpanResult
    latency_us: int
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Draft:
    """Everything known of one trace so far; a stage reads it and returns an evolved copy."""

    request: Request
    policy: Policy
    turns: tuple[SourceTurn, ...] = ()  # those that are still in the funnel
    candidates: tuple[Candidate, ...] = ()  # those that are still in the funnel
    entities: tuple[KnownEntity, ...] = ()  # of the end user, read by resolve_refs
    new_entities: tuple[KnownEntity, ...] = ()
    new_aliases: tuple[tuple[UUID, str], ...] = ()
    moved_aliases: tuple[tuple[UUID, str], ...] = ()  # taken over from whoever held them: "User's manager"
    renamed: tuple[tuple[UUID, str], ...] = ()  # entities whose name became known or was corrected
    rulings: tuple[Ruling, ...] = ()
    drops: tuple[Drop, ...] = ()
    model_calls: tuple[ModelCallRecord, ...] = ()
    failure: str = ""  # why nothing could be extracted; the turns stay replayable
    spans: tuple[StageSpan, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)  # of the running stage, moved into its span

    @classmethod
    def start(cls, *, request: Request, policy: Policy) -> "Draft":
        """Open the draft of a trace with every turn in the funnel."""
        return cls(request=request, policy=policy, turns=request.turns)

    def evolve(self, **changes: Any) -> Self:
        """Return a copy with the changes."""
        return replace(self, **changes)

    def drop(self, *drops: Drop) -> Self:
        """Return a copy without the dropped turns and candidates, their reasons kept."""
        turn_ids = {drop.turn_id for drop in drops if drop.candidate is None}
        indexes = {drop.candidate.index for drop in drops if drop.candidate is not None}
        return self.evolve(
            turns=tuple(turn for turn in self.turns if turn.id not in turn_ids),
            candidates=tuple(each for each in self.candidates if each.index not in indexes),
            rulings=tuple(ruling for ruling in self.rulings if ruling.candidate.index not in indexes),
            drops=self.drops + drops,
        )
