"""Ports: protocols through which the pipeline reaches the outside world, and the bundle of them that a run uses."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from apps.pipeline.core.draft import Draft, KnownEntity
from apps.pipeline.core.enums import Stage
from apps.pipeline.core.model_calls import ModelAnswer, ModelRequest
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.statement import StoredMemory

Vector = Sequence[float]


class Embedder(Protocol):
    """Converts texts to unit vectors; vectors of embedders with different names are never compared."""

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
    """A search of dedupe for similar memories."""

    canonical_hash: str
    vector: Vector
    content: str = ""  # equal sentences come first too, because a salted hash may differ from the sentence's own


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A live memory that is similar to a probe; `cosine` is None until its vector is computed."""

    memory: StoredMemory
    cosine: float | None


@dataclass(frozen=True, slots=True)
class Slot:
    """A subject and predicate that may already have a value."""

    subject_id: UUID
    predicate: str


@dataclass(frozen=True, slots=True)
class RelevanceQuery:
    """A search for the known memories that are relevant to new turns."""

    end_user_id: UUID
    session_id: UUID
    embedder: str
    vectors: tuple[Vector, ...]  # one per sentence
    text: str  # of all turns: memories about the entities that it names are relevant
    words: tuple[tuple[str, ...], ...] = ()  # stems of the content words of each sentence
    private_to: str = ""  # see MemoryReader
    now: datetime | None = None  # dated events from then on are relevant


class MemoryReader(Protocol):
    """Reads what is known about one end user; each call is one round trip.

    Memories that are private to an agent stand apart: `private_to` names the agent whose memories are read, and only
    they; empty, the memories that all agents of the user share.
    """

    def duplicates(
        self, *, end_user_id: UUID, hashes: Sequence[str], contents: Sequence[str], private_to: str = ""
    ) -> tuple[StoredMemory, ...]:
        """Return live memories with one of the hashes or wordings, in the order in which they were said."""

    def one(self, *, end_user_id: UUID, memory_id: UUID) -> StoredMemory:
        """Return a memory, live or not. Raises LookupError if the end user has no such memory."""

    def entities(self, *, end_user_id: UUID, limit: int) -> tuple[KnownEntity, ...]:
        """Return entities with their aliases, the most recently mentioned first."""

    def all_if_few(
        self, *, end_user_id: UUID, entities: int, memories: int, private_to: str = ""
    ) -> tuple[tuple[KnownEntity, ...], tuple[StoredMemory, ...] | None]:
        """Return at most so many entities, as `entities` does, and all live memories, the latest first.

        None stands for the memories where there are more than `memories`.
        """

    def relevant(self, *, query: RelevanceQuery, memories: int) -> tuple[StoredMemory, ...]:
        """Return at most so many live memories, the most relevant first.

        Memories are taken in rotation from several lists, so that no topic crowds out the others: the nearest to each
        sentence by vectors and by words, those about a named entity, coming events, those of the same session, and the
        latest.
        """

    def neighbours(
        self, *, end_user_id: UUID, embedder: str, probes: Sequence[Probe], limit: int, private_to: str = ""
    ) -> list[list[Neighbour]]:
        """Return live memories for each probe: equal hashes, equal sentences, those without vectors, the nearest."""

    def holders(
        self, *, end_user_id: UUID, slots: Sequence[Slot], ids: Sequence[UUID] = (), private_to: str = ""
    ) -> tuple[StoredMemory, ...]:
        """Return live memories that fill one of the slots or have one of the identifiers."""


class PlanWriter(Protocol):
    """Applies a plan in one transaction, or raises StalePlan and writes nothing."""

    def apply(self, *, draft: Draft, plan: WritePlan) -> None: ...


class StalePlan(Exception):
    """A memory has changed since the plan was made; the caller has to plan again."""


StageSpanPort = Callable[[Stage], AbstractContextManager[object]]  # entered while a stage runs


@dataclass(frozen=True, slots=True)
class Ports:
    """The outside world of one run; live runs, dry runs and replays differ only in their ports."""

    now: Callable[[], datetime]  # the current time, in UTC
    new_id: Callable[[], UUID]  # UUIDv7
    embedder: Embedder
    memories: MemoryReader
    writer: PlanWriter
    model: Model | None = None  # without one the plain extractor reads
    has_usual_model: bool = True  # whether `model` also answers policies that name none
    stage_span: StageSpanPort = nullcontext  # lets operators see that a stage runs
    waits_for_judge: bool = False  # whether a judge that does not answer fails the run instead of leaving cases open

    def model_for(self, policy: Policy) -> Model | None:
        """Return the model that a policy may use."""
        return self.model if self.has_usual_model or policy.extraction.model else None
