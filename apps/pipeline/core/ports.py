"""Ports: what the funnel asks of the world, as protocols, and the bundle that a mode of running fills."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from apps.pipeline.core.draft import Draft, KnownEntity
from apps.pipeline.core.model_calls import ModelAnswer, ModelRequest
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.statement import StoredMemory

Vector = Sequence[float]


class Clock(Protocol):
    """Tells the time, in UTC."""

    def now(self) -> datetime: ...


class Ids(Protocol):
    """Makes new identifiers (UUIDv7)."""

    def new(self) -> UUID: ...


class Embedder(Protocol):
    """Turns texts into unit vectors; a stored vector of another name is never compared."""

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> list[Vector]: ...


class Model(Protocol):
    """Answers a request, or raises ModelFailed; called from many threads at once."""

    def complete(self, request: ModelRequest) -> ModelAnswer: ...


@dataclass(frozen=True, slots=True)
class Probe:
    """What dedupe looks for: memories like this one."""

    canonical_hash: str
    vector: Vector
    content: str = ""  # the same sentence comes first as well, for its hash may be another where one triple has two


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A live memory near a probe; `cosine` is None where its vector is still owed."""

    memory: StoredMemory
    cosine: float | None


@dataclass(frozen=True, slots=True)
class Slot:
    """A subject and predicate that may already hold a value."""

    subject_id: UUID
    predicate: str


@dataclass(frozen=True, slots=True)
class RelevanceQuery:
    """New turns, for which the known memories that matter are wanted."""

    end_user_id: UUID
    session_id: UUID
    embedder: str
    vectors: tuple[Vector, ...]  # one per sentence
    text: str  # of all turns: memories about entities that it names matter
    words: tuple[tuple[str, ...], ...] = ()  # of each sentence, the stems of those that have a meaning


class MemoryReader(Protocol):
    """Reads what is known of one end user; each call is one round trip."""

    def duplicates(
        self, *, end_user_id: UUID, hashes: Sequence[str], contents: Sequence[str]
    ) -> tuple[StoredMemory, ...]:
        """Return live memories of one of the hashes or wordings, in the order in which they were said."""

    def one(self, *, end_user_id: UUID, memory_id: UUID) -> StoredMemory:
        """Return a memory, live or not. Raises LookupError where the end user has no such memory."""

    def entities(self, *, end_user_id: UUID, limit: int) -> tuple[KnownEntity, ...]:
        """Return entities with their aliases, the most recently mentioned first."""

    def all_if_few(
        self, *, end_user_id: UUID, entities: int, memories: int
    ) -> tuple[tuple[KnownEntity, ...], tuple[StoredMemory, ...] | None]:
        """Return at most so many entities, as `entities` does, and all live memories, the latest first.

        None stands for the memories where there are more than `memories`.
        """

    def relevant(self, *, query: RelevanceQuery, memories: int) -> tuple[StoredMemory, ...]:
        """Return at most so many live memories, the most relevant first.

        The lists of what is nearest to each sentence, by vectors and by words, of what is about a named entity, of the
        same session and of the latest take turns, so that one topic of the turns doesn't crowd out another.
        """

    def neighbours(
        self, *, end_user_id: UUID, embedder: str, probes: Sequence[Probe], limit: int
    ) -> list[list[Neighbour]]:
        """Return, for each probe, live memories: equal hashes, equal sentences, those without vectors, the nearest."""

    def holders(
        self, *, end_user_id: UUID, slots: Sequence[Slot], ids: Sequence[UUID] = ()
    ) -> tuple[StoredMemory, ...]:
        """Return live memories that hold one of the slots or have one of the identifiers."""


class PlanWriter(Protocol):
    """Applies a plan in one transaction, or raises StalePlan and writes nothing."""

    def apply(self, *, draft: Draft, plan: WritePlan) -> None: ...


class StalePlan(Exception):
    """A memory has changed since the plan was made from it; plan again."""


@dataclass(frozen=True, slots=True)
class Ports:
    """The world as one run sees it; live, dry run and replay differ only in this."""

    clock: Clock
    ids: Ids
    embedder: Embedder
    memories: MemoryReader
    writer: PlanWriter
    model: Model | None = None  # without one the patterns extract
    has_usual_model: bool = True  # whether `model` also answers policies that name none
    waits_for_judge: bool = False  # whether a judge that does not answer fails the run instead of leaving cases open

    def model_for(self, policy: Policy) -> Model | None:
        """Return the model that a policy may ask."""
        return self.model if self.has_usual_model or policy.extraction.model else None
