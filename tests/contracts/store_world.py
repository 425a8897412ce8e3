"""A store with one end user, as the contract of stores uses it, and the operations that its tests write."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any
from uuid import UUID

from apps.pipeline.core.canonical import canonical_hash
from apps.pipeline.core.draft import Draft, KnownEntity, Request
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
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.memory_conversion import candidate_confidence
from apps.pipeline.core.operations import (
    AddEntity,
    AddMemory,
    MergeInto,
    Operation,
    PlannedOrigin,
    SupersedeMemory,
)
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.ports import MemoryReader, PlanWriter, Slot
from apps.pipeline.core.statement import Candidate, Mention, Statement, StoredMemory
from tests.pipeline.builders import MONDAY, candidate

EMBEDDER = "unit"
BERLIN = UUID(int=7)
LATER = MONDAY + timedelta(days=5)


class World(ABC):
    """A store with one end user, and the access to it that the contract needs."""

    reader: MemoryReader
    writer: PlanWriter
    end_user_id: UUID

    @abstractmethod
    def request(self, *contents: str, day: int = 0) -> Request:
        """Accept turns in a session of their own, said on one day."""

    @abstractmethod
    def put_vector(self, *, memory_id: UUID, vector: list[float]) -> None: ...

    # Shared by all worlds.

    def row(self, memory_id: UUID) -> StoredMemory:
        return self.reader.one(end_user_id=self.end_user_id, memory_id=memory_id)

    def write(self, request: Request, *operations: Operation) -> None:
        draft = Draft.start(request=request, policy=Policy())
        self.writer.apply(draft=draft, plan=WritePlan(operations=tuple(operations)))

    def entities(self) -> dict[str, KnownEntity]:
        return {each.name: each for each in self.reader.entities(end_user_id=self.end_user_id, limit=50)}

    def holders(self, subject_id: UUID, predicate: str) -> tuple[StoredMemory, ...]:
        slot = Slot(subject_id=subject_id, predicate=predicate)
        return self.reader.holders(end_user_id=self.end_user_id, slots=[slot])


def entity(name: str, *, kind: EntityType = EntityType.PERSON, **changes: Any) -> AddEntity:
    return AddEntity(entity=KnownEntity(**{"id": new_id(), "name": name, "type": kind, **changes}))


def told(request: Request, content: str, *, subject: AddEntity, **changes: Any) -> Candidate:
    mention = Mention(text=subject.entity.name, type=subject.entity.type, entity_id=subject.entity.id)
    return candidate(content, source=request.turns[0], subject=mention, **changes)


def full_statement(each: Candidate) -> Candidate:
    """Return a candidate none of whose fields has its default value."""
    changed = each.evolve(
        type=MemoryType.EVENT,
        polarity=Polarity.NEGATIVE,
        stateful=True,
        event_at=MONDAY,
        event_precision=Precision.WEEK,
        importance=0.7,
        topic="home",
        tags=("decision", "goal"),
        language="de",
        speech_act=SpeechAct.QUOTED,
        source_confidence=SourceConfidence.INFERRED,
        grounding=Grounding.PARTIAL,
        reliability=0.6,
        adjustment=-0.1,
    )
    unset = {field.name: field.default for field in fields(Statement)}
    assert not [name for name, value in changed.statement_fields().items() if name != "object" and value == unset[name]]
    return changed


def origins(request: Request) -> tuple[PlannedOrigin, ...]:
    return tuple(
        PlannedOrigin(turn=turn, session_id=request.origin.session_id, api_key_id=None, evidence=turn.content)
        for turn in request.turns
    )


def add(request: Request, each: Candidate, **changes: Any) -> AddMemory:
    draft = Draft.start(request=request, policy=Policy())
    given = {
        "memory_id": new_id(),
        "candidate": each,
        "origins": origins(request),
        "status": Status.ACTIVE,
        "confidence": candidate_confidence(draft, each),
        "canonical_hash": canonical_hash(each),
        "said_at": request.turns[0].said_at,
        "valid_from": request.turns[0].said_at,
    }
    return AddMemory(**{**given, **changes})


def merge(request: Request, each: Candidate, *, into: UUID, version: int = 1, content: str = "") -> MergeInto:
    draft = Draft.start(request=request, policy=Policy())
    return MergeInto(
        memory_id=into,
        expected_version=version,
        candidate=each,
        origins=origins(request),
        changes={"content": content} if content else {},
        promotes=False,
        confidence=candidate_confidence(draft, each),
        status=Status.ACTIVE,
        recurrence=2,
    )


def supersede(memory_id: UUID, *, by: UUID, version: int = 1) -> SupersedeMemory:
    return SupersedeMemory(memory_id=memory_id, expected_version=version, superseded_by=by, valid_until=LATER)


@dataclass(frozen=True, slots=True)
class Started:
    """A user who lives in Berlin."""

    request: Request
    user: AddEntity
    home: AddMemory

    @property
    def slot(self) -> tuple[UUID, str]:
        return self.user.entity.id, "lives_in"


def start(world: World) -> Started:
    request = world.request("I live in Berlin.")
    user = entity("User", is_user=True)
    home = add(request, told(request, "User lives in Berlin.", subject=user, predicate="lives_in", value="Berlin"))
    world.write(request, user, home)
    return Started(request=request, user=user, home=home)
