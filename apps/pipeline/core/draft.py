"""Draft: the one frozen document that travels through the funnel, and the values it is made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from apps.pipeline.core.enums import EntityType, SpanResult, Stage
from apps.pipeline.core.model_calls import ModelCallRecord
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.statement import Candidate, StoredMemory
from apps.pipeline.core.turn import SourceTurn


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
class Ruling:
    """What is to happen with a surviving candidate: a new memory, or a merge into one that is known."""

    candidate: Candidate
    memory_id: UUID  # of the memory that will hold it
    merge_into: StoredMemory | None = None
    supersedes: tuple[StoredMemory, ...] = ()
    # A late arrival: stored as history that ends when this newer value began.
    superseded_by: StoredMemory | None = None
    contradicts: tuple[StoredMemory, ...] = ()
    possible_duplicates: tuple[StoredMemory, ...] = ()
    absorbs: tuple[StoredMemory, ...] = ()  # known memories that say only what this one says in passing
    changes: Mapping[str, Any] = field(default_factory=dict)  # of a merge: fields of the known memory, new values
    promotes: bool = False  # a merge that lifts a pending memory: agents may be told
    coexists: frozenset[UUID] = frozenset()  # memories beside which a judge lets it stand
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
    shown_memories: frozenset[UUID] = frozenset()  # known memories that the model saw when it extracted
    holders: tuple[StoredMemory, ...] | None = None  # of the candidates' slots, once they were read
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
