"""Statement: what a memory says, the same value from the extractor's proposal to the stored memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
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
    SpeechAct,
    Status,
)
from apps.pipeline.core.type_traits import TYPE_TRAITS, TypeTraits


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


PATTERNS = "patterns:"  # how the names of pattern extractors begin


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
    content: str  # a self-contained sentence that holds the mentions' texts
    polarity: Polarity = Polarity.POSITIVE
    stateful: bool = False  # the predicate holds one true value at a time
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
    extractor: str = ""  # "patterns:<pattern name>", the model's name, or what a caller names
    evidence: str = ""  # a verbatim quote of a source turn

    @property
    def traits(self) -> TypeTraits:
        """Return how memories of the type behave."""
        return TYPE_TRAITS[self.type]

    @property
    def takes_one_value(self) -> bool:
        """Return True if it is the value of a slot that holds one true value at a time."""
        return self.stateful and self.traits.holds_slot

    @property
    def subject_id(self) -> UUID | None:
        """Return the entity that the statement is about, once it is resolved."""
        return self.subject.entity_id

    @property
    def object_text(self) -> str:
        """Return the object as plain text."""
        return self.object.text

    def evolve(self, **changes: Any) -> Self:
        """Return a copy with the changes."""
        return replace(self, **changes)

    def statement_fields(self) -> dict[str, Any]:
        """Return the fields of the statement alone, from which another kind of statement is built."""
        return {name: getattr(self, name) for name in STATEMENT_FIELDS}


STATEMENT_FIELDS = tuple(each.name for each in fields(Statement))


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate(Statement):
    """One proposed memory; `index` is its place within the trace and makes a write unique."""

    index: int
    source_turn_ids: tuple[UUID, ...]
    # Further spans of `content` that point at entities, beside subject and object.
    mentions: tuple[Mention, ...] = ()
    # Of the memory that it becomes, where the extractor may name it in what it says later.
    memory_id: UUID | None = None
    # What the extractor says of memories that it was shown, or that it has named before; the rules of deduplication
    # and conflict decide.
    same_as: UUID | None = None
    replaces: tuple[UUID, ...] = ()
    contradicts: tuple[UUID, ...] = ()
    # When the fact itself starts and ends, where the turns say so; nothing is guessed.
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    valid_from_precision: Precision | None = None
    valid_until_precision: Precision | None = None

    @property
    def proposed(self) -> frozenset[UUID]:
        """Return the known memories about which the extractor says something."""
        same = () if self.same_as is None else (self.same_as,)
        return frozenset((*same, *self.replaces, *self.contradicts))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMemory(Statement):
    """A memory of the end user as the store knows it, with the version that a plan is made from.

    Its subject has an identifier and no text; the text of an object that is an entity is the name that it had.
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
    # The sum of its confidence, part by part, and what the callers that told it sent beside it.
    confidence_parts: Mapping[str, float | None] = field(default_factory=dict, compare=False)
    metadata: Mapping[str, Any] = field(default_factory=dict, compare=False)
    # Distinct (session id, ISO day) pairs that said it.
    origins: tuple[tuple[str, str], ...] = ()
