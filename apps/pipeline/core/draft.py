"""Draft: the frozen value that passes through the stages of the funnel, and its parts."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from apps.pipeline.core.agent_scope import UNSCOPED, AgentScope, MemorySource
from apps.pipeline.core.enums import EntityType, SpanResult, Stage, Status
from apps.pipeline.core.model_calls import ModelCallRecord
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.statement import Candidate, StoredMemory
from apps.pipeline.core.turn import SourceTurn


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request comes from; trust depends on this and never on the text."""

    project_id: UUID
    end_user_id: UUID
    session_id: UUID
    api_key_id: UUID | None = None
    agent_scope: AgentScope = UNSCOPED


@dataclass(frozen=True, slots=True)
class Request:
    """The turns of one trace, with their context."""

    trace_id: UUID
    origin: Origin
    turns: tuple[SourceTurn, ...]
    earlier_turns: tuple[SourceTurn, ...] = ()  # of the same session, oldest first, as context only
    topic: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    traceparent: str = ""  # of the distributed trace that the request belongs to (W3C Trace Context)
    is_session_level: bool = False  # the turns are those of other traces of the session
    private_to: str = ""  # the agent that alone is told, whatever the policy says

    @property
    def session_turns(self) -> tuple[SourceTurn, ...]:
        """Return the turns after the earlier ones of their session, oldest first."""
        return (*self.earlier_turns, *self.turns)

    def sources_of(self, candidate: Candidate) -> list[SourceTurn]:
        """Return the turns that state a candidate."""
        return [turn for turn in self.turns if turn.id in candidate.source_turn_ids]

    @property
    def source(self) -> MemorySource:
        """Return who tells what the turns say."""
        return MemorySource(scope=self.origin.agent_scope, metadata=self.metadata)


@dataclass(frozen=True, slots=True)
class Drop:
    """A rejected turn or candidate with the reason; a value, never an exception."""

    stage: Stage
    reason: str  # a Reason, or "pattern:<rule name>"
    turn_id: UUID | None = None
    candidate: Candidate | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """A stored entity of the end user."""

    id: UUID
    name: str
    type: EntityType
    aliases: tuple[str, ...] = ()
    is_user: bool = False  # the end user
    mention_count: int = 0
    last_mentioned_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Ruling:
    """The decision about a candidate that was not dropped: a new memory, or a merge into a known one."""

    candidate: Candidate
    memory_id: UUID  # of the memory that will hold it
    merge_into: StoredMemory | None = None
    supersedes: tuple[StoredMemory, ...] = ()
    # A late arrival: stored as history that ends when this newer value began.
    superseded_by: StoredMemory | None = None
    contradicts: tuple[StoredMemory, ...] = ()
    possible_duplicates: tuple[StoredMemory, ...] = ()
    changes: Mapping[str, Any] = field(default_factory=dict)  # of a merge: fields of the known memory, new values
    promotes: bool = False  # a merge that makes a pending memory active
    coexists: frozenset[UUID] = frozenset()  # contradicting memories that a judge found compatible with it
    review_reasons: tuple[str, ...] = ()  # why a person has to review it before agents see it
    flags: tuple[str, ...] = ()  # why a person may want to review it, although agents see it
    rule: str = ""  # the rule that decided; shown in the span
    hash_salted: bool = False  # a known memory has the same triple but another meaning: another day, another number

    @property
    def needs_review(self) -> bool:
        """Return True if the memory is hidden until a person has reviewed it."""
        given = self.candidate.given
        return bool(self.review_reasons) or (given is not None and given.status is Status.PENDING_REVIEW)

    def evolve(self, **changes: Any) -> Self:
        """Return a copy with the changes."""
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class Ending:
    """A known memory that is over, as a model says, and the day if the user names one, which may be still to come."""

    memory_id: UUID
    on: datetime | None = None


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """What the user asks to forget, by its words."""

    turn_id: UUID
    said_at: datetime
    quote: str
    words: frozenset[str]  # stems of what is named
    names_topic: bool = False  # "everything about my knee": all that is known of it
    is_plain: bool = True  # nothing else is said with it, and one person speaks
    points: bool = False  # "forget that": what the user told last in this session
    names_all: bool = False  # "forget everything about me": for a person to decide
    needs_all_words: bool = False  # only what holds all of its words is meant


@dataclass(frozen=True, slots=True)
class StageSpan:
    """The result of one stage in one trace."""

    stage: Stage
    result: SpanResult
    latency_us: int
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)  # without slots, so that a copy is that of one dictionary
class Draft:
    """Everything known about one trace so far; a stage reads it and returns an evolved copy."""

    request: Request
    policy: Policy
    turns: tuple[SourceTurn, ...] = ()  # those that are still in the funnel
    candidates: tuple[Candidate, ...] = ()  # those that are still in the funnel
    entities: tuple[KnownEntity, ...] = ()  # of the end user, read by resolve_refs
    new_entities: tuple[KnownEntity, ...] = ()
    new_aliases: tuple[tuple[UUID, str], ...] = ()
    moved_aliases: tuple[tuple[UUID, str], ...] = ()  # descriptions that change hands: "User's manager"
    renamed: tuple[tuple[UUID, str], ...] = ()  # entities whose name became known or was corrected
    shown_memories: frozenset[UUID] = frozenset()  # known memories that were in the extraction prompt
    holders: tuple[StoredMemory, ...] | None = None  # of the candidates' slots, after dedupe has read them
    forget_requests: tuple[ForgetRequest, ...] = ()
    asked_to_forget: tuple[UUID, ...] = ()  # shown memories that a model was told to forget
    asked_to_end: tuple[Ending, ...] = ()  # shown memories that are over, as a model says
    forgotten: tuple[StoredMemory, ...] = ()  # clearly named by a request to forget: retracted
    maybe_forgotten: tuple[StoredMemory, ...] = ()  # perhaps named: a person decides
    ended: tuple[StoredMemory, ...] = ()  # over without a new one, with their end
    notes: tuple[tuple[UUID, UUID], ...] = ()  # of turns that are read again: (turn, its note)
    rulings: tuple[Ruling, ...] = ()
    drops: tuple[Drop, ...] = ()
    model_calls: tuple[ModelCallRecord, ...] = ()
    failure: str = ""  # why nothing could be extracted; the turns stay replayable
    spans: tuple[StageSpan, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)  # of the running stage, moved into its span

    @property
    def private_to(self) -> str:
        """Return the agent that alone is told what the turns say; empty where all agents of the user are."""
        return self.request.private_to or self.policy.sharing.private_to(self.request.origin.agent_scope)

    @property
    def all_entities(self) -> tuple[KnownEntity, ...]:
        """Return the entities of the end user that resolve_refs has read, and the new ones."""
        return (*self.entities, *self.new_entities)

    @classmethod
    def start(cls, *, request: Request, policy: Policy) -> "Draft":
        """Return the draft of a trace with all turns in the funnel."""
        return cls(request=request, policy=policy, turns=request.turns)

    def evolve(self, **changes: Any) -> Self:
        """Return a copy with the changes, in a tenth of the time of dataclasses.replace. Raises TypeError."""
        if unknown := changes.keys() - vars(self).keys():
            raise TypeError(f"a draft has no {', '.join(sorted(unknown))}")
        copy = object.__new__(type(self))
        vars(copy).update(vars(self), **changes)
        return copy

    def left_alone(self, memories: tuple[StoredMemory, ...]) -> tuple[StoredMemory, ...]:
        """Return those of some memories that the draft's rulings neither close nor repeat."""
        changed = {each.id for ruling in self.rulings for each in ruling.supersedes}
        changed |= {ruling.merge_into.id for ruling in self.rulings if ruling.merge_into}
        return tuple(each for each in memories if each.id not in changed)

    def drop(self, *drops: Drop) -> Self:
        """Return a copy without the dropped turns and candidates but with their reasons."""
        turn_ids = {drop.turn_id for drop in drops if drop.candidate is None}
        indexes = {drop.candidate.index for drop in drops if drop.candidate is not None}
        return self.evolve(
            turns=tuple(turn for turn in self.turns if turn.id not in turn_ids),
            candidates=tuple(each for each in self.candidates if each.index not in indexes),
            rulings=tuple(ruling for ruling in self.rulings if ruling.candidate.index not in indexes),
            drops=self.drops + drops,
        )
