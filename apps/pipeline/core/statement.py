"""Statement: what a memory says; the same value from the extractor's proposal to the stored memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from apps.pipeline.core.agent_scope import AgentScope, MemorySource
from apps.pipeline.core.enums import (
    NOTE,
    EntityType,
    Grounding,
    MemoryType,
    Polarity,
    Precision,
    Role,
    SourceConfidence,
    SpeechAct,
    Status,
)
from apps.pipeline.core.type_traits import TYPE_TRAITS, TypeTraits


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of text that refers to an entity; `entity_id` is set once it is resolved."""

    text: str
    type: EntityType | None = None
    is_speaker: bool = False
    entity_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class ObjectValue:
    """The object of a triple: a literal, an entity or a list of literals, or none of them."""

    literal: str | None = None
    entity: Mention | None = None
    items: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return the object as plain text, for comparisons."""
        if self.entity is not None:
            return self.entity.text
        return self.literal if self.literal is not None else ", ".join(self.items)


PLAIN = "plain:"  # how the names of the rows that read a statement without a model begin
NOTE_EXTRACTOR = f"{PLAIN}{NOTE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a memory says, how it was said and how well it is supported.

    A new field is added here, to the model with its migration, to the codec (apps/memories/codec.py) and to the
    schemas of the API: see docs/decisions/one-statement.md.
    """

    type: MemoryType
    subject: Mention = Mention(text="")
    predicate: str = ""  # snake_case
    object: ObjectValue = ObjectValue()
    content: str  # a self-contained sentence that contains the texts of the mentions
    polarity: Polarity = Polarity.POSITIVE
    stateful: bool = False  # the predicate has one true value at a time
    event_at: datetime | None = None
    event_precision: Precision | None = None
    importance: float = 0.5
    topic: str = ""
    tags: tuple[str, ...] = ()
    language: str = ""
    speech_act: SpeechAct = SpeechAct.ASSERTED
    source_confidence: SourceConfidence = SourceConfidence.DIRECT
    grounding: Grounding = Grounding.SUPPORTED
    reliability: float = 0.8  # of the extractor, 0 to 1
    adjustment: float = 0.0  # the extractor's own correction of the confidence, -0.2 to 0.2
    extractor: str = ""  # "plain:<row of the table>", the model's name, or a name given by the caller
    evidence: str = ""  # a verbatim quote of a source turn

    @property
    def traits(self) -> TypeTraits:
        """Return the traits of the memory's type."""
        return TYPE_TRAITS[self.type]

    @property
    def takes_one_value(self) -> bool:
        """Return True if it is the value of a slot with one true value at a time."""
        return self.stateful and self.traits.holds_slot

    @property
    def subject_id(self) -> UUID | None:
        """Return the entity that the statement is about, once it is resolved."""
        return self.subject.entity_id

    @property
    def object_text(self) -> str:
        """Return the object as plain text."""
        return self.object.text

    @property
    def wording(self) -> str:
        """Return the quote, or the sentence of a statement that was not read from a turn."""
        return self.evidence or self.content

    def evolve(self, **changes: Any) -> Self:
        """Return a copy with the changes."""
        return replace(self, **changes)

    def statement_fields(self) -> dict[str, Any]:
        """Return the fields of the statement alone, to build another kind of statement from them."""
        return {name: getattr(self, name) for name in STATEMENT_FIELDS}


STATEMENT_FIELDS = tuple(each.name for each in fields(Statement))


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a caller gives with a statement that it stores directly; stages use it instead of facts of source turns."""

    said_at: datetime
    confidence: float | None = None  # instead of the computed one
    status: Status | None = None  # None: as the confidence allows
    superseded_by: UUID | None = None
    expires_at: datetime | None = None
    context: str = ""
    source: MemorySource = field(default_factory=MemorySource)
    is_trusted: bool = True  # whether the caller may change what a user said or a person approved
    may_replace: bool = True  # whether it may close or reword known memories
    doubts: tuple[str, ...] = ()  # reasons why a person has to review the statement

    def may_change(self, known: "StoredMemory") -> bool:
        """Return True if the statement may close or reword a known memory."""
        return self.may_replace and not self.doubts and (self.is_trusted or not known.is_vouched_for)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate(Statement):
    """A proposed memory; `index` is its position within the trace and makes a write unique."""

    index: int
    source_turn_ids: tuple[UUID, ...]
    # Further spans of `content` that refer to entities, in addition to subject and object.
    mentions: tuple[Mention, ...] = ()
    # The memory that it becomes, if the extractor may refer to it in later candidates.
    memory_id: UUID | None = None
    # What the extractor proposes about memories that it was shown or has created before; the rules of deduplication
    # and conflict decide.
    same_as: UUID | None = None
    replaces: tuple[UUID, ...] = ()
    contradicts: tuple[UUID, ...] = ()
    # When the fact itself starts and ends, if the turns say so; nothing is guessed.
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    valid_from_precision: Precision | None = None
    valid_until_precision: Precision | None = None
    given: Given | None = None  # of a statement that is stored directly: it has no source turns

    @property
    def proposed(self) -> frozenset[UUID]:
        """Return the known memories about which the extractor proposes something."""
        same = () if self.same_as is None else (self.same_as,)
        return frozenset((*same, *self.replaces, *self.contradicts))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMemory(Statement):
    """A stored memory of the end user, with the version that a plan is made from.

    The subject has an identifier but no text; if the object is an entity, its text is the name at the time of writing.
    """

    id: UUID
    version: int
    status: Status
    canonical_hash: str
    confidence: float
    role: Role
    said_at: datetime
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    confidence_parts: Mapping[str, float | None] = field(default_factory=dict, compare=False)
    private_to: str = ""  # the agent that alone is told of it; empty: all agents of the user
    # Who told it first, and each of the others in the form of MemorySource.to_json.
    agent_id: str = ""
    app_id: str = ""
    run_id: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict, compare=False)
    further_sources: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)
    # Distinct (session id, ISO day) pairs in which it was stated.
    origins: tuple[tuple[str, str], ...] = ()

    @property
    def is_vouched_for(self) -> bool:
        """Return True if a turn says the memory or a person has approved it."""
        return bool(self.origins) or bool(self.confidence_parts.get("review"))

    @property
    def source(self) -> MemorySource:
        """Return who told it first."""
        scope = AgentScope(agent_id=self.agent_id, app_id=self.app_id, run_id=self.run_id)
        return MemorySource(scope=scope, metadata=self.metadata)
