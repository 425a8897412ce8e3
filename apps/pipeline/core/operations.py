"""Operations of a plan: one class per kind of change to entities, memories, links and work."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.pipeline.core.agent_scope import UNSCOPED, AgentScope
from apps.pipeline.core.confidence import Confidence
from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import LinkKind, LinkStatus, Status, WorkKind
from apps.pipeline.core.statement import Candidate
from apps.pipeline.core.turn import SourceTurn

ROLLED_BACK, ROLLBACK_UNDONE = "rolled_back", "rollback_undone"  # verbs of history and ledger, resolution of links


@dataclass(frozen=True, slots=True)
class PlannedOrigin:
    """A turn that states a memory: who said it, where, when and in which words."""

    turn: SourceTurn
    session_id: UUID
    api_key_id: UUID | None
    evidence: str


@dataclass(frozen=True, slots=True)
class AddEntity:
    """A new entity of the end user."""

    entity: KnownEntity


@dataclass(frozen=True, slots=True)
class AddAlias:
    """Another name of an entity; for a known name only its count rises."""

    entity_id: UUID
    alias: str


@dataclass(frozen=True, slots=True)
class ReassignAlias:
    """A description passes to an entity from all others that had it: one manager at a time."""

    entity_id: UUID
    alias: str


@dataclass(frozen=True, slots=True)
class RenameEntity:
    """An entity's name became known or was corrected; the former name stays as an alias."""

    entity_id: UUID
    name: str


@dataclass(frozen=True, slots=True)
class AddMemory:
    """A new memory, with everything that is known about it at write time."""

    memory_id: UUID
    candidate: Candidate
    origins: tuple[PlannedOrigin, ...]
    status: Status
    confidence: Confidence
    canonical_hash: str
    said_at: datetime
    valid_from: datetime
    valid_until: datetime | None = None
    superseded_by: UUID | None = None
    context: str = ""  # the words around the quote; indexed for search
    expires_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    agent_scope: AgentScope = UNSCOPED
    private_to: str = ""  # the agent that alone is told of it; empty: all agents of the user


@dataclass(frozen=True, slots=True)
class MergeInto:
    """Another source of a known memory; the better statement wins, the other one stays in the history."""

    memory_id: UUID
    expected_version: int
    candidate: Candidate
    origins: tuple[PlannedOrigin, ...]
    changes: Mapping[str, Any]  # field of a stored memory to its new value
    confidence: Confidence
    status: Status
    promotes: bool  # it was pending and becomes active: it needs no review any more
    recurrence: int  # distinct sessions and days that state it, including this one


@dataclass(frozen=True, slots=True)
class SupersedeMemory:
    """A newer value closes an older one; nothing is deleted."""

    memory_id: UUID
    expected_version: int
    superseded_by: UUID
    valid_until: datetime  # an end in the future leaves the memory active until then

    def changes(self, *, now: datetime) -> dict[str, Any]:
        """Return the fields of the stored memory that change, with their new values."""
        closed = {"status": Status.SUPERSEDED} if self.valid_until <= now else {}
        return {**closed, "valid_until": self.valid_until}


@dataclass(frozen=True, slots=True)
class ReviseMemory:
    """Fields of a known memory get new values; the old ones stay in the history."""

    memory_id: UUID
    expected_version: int
    verb: str  # the verb in the history and the ledger: "revised", "approved", "retracted"…
    changes: Mapping[str, Any]  # column name to new value
    note: str = ""  # the reason for the ledger: a value of an enum


@dataclass(frozen=True, slots=True)
class CopyOrigins:
    """A memory gets copies of the origins of another one that says the same."""

    memory_id: UUID
    from_id: UUID


@dataclass(frozen=True, slots=True)
class RemoveCopiedOrigins:
    """A memory loses the origins that were copied to it since a time."""

    memory_id: UUID
    from_id: UUID
    since: datetime


@dataclass(frozen=True, slots=True)
class MarkOrigins:
    """A rollback withdraws sources of a memory, which stay stored and count no more; its undo lets them count again."""

    memory_id: UUID
    turn_ids: tuple[UUID, ...]
    withdrawn: bool


@dataclass(frozen=True, slots=True)
class ReviseEntity:
    """A rollback takes back what traces made of an entity, or its undo restores it. None leaves a value as it is."""

    entity_id: UUID
    mentions: int = 0  # added to the count
    name: str | None = None
    withdrawn: bool | None = None


@dataclass(frozen=True, slots=True)
class CountAlias:
    """A name of an entity is said by more or by fewer traces; one that none says any more is withdrawn."""

    entity_id: UUID
    alias: str
    uses: int  # added to the count


@dataclass(frozen=True, slots=True)
class MarkEntityChanges:
    """Records of what traces did to names are withdrawn, or count again."""

    change_ids: tuple[UUID, ...]
    withdrawn: bool


@dataclass(frozen=True, slots=True)
class LinkMemories:
    """Two memories that a person has to review together."""

    from_id: UUID
    to_id: UUID
    kind: LinkKind


@dataclass(frozen=True, slots=True)
class SetLinkStatus:
    """A person settles a link, or reopens it."""

    from_id: UUID
    to_id: UUID
    kind: LinkKind
    status: LinkStatus  # which it does not have yet
    resolution: str = ""


@dataclass(frozen=True, slots=True)
class FlagForReview:
    """A reason why a person has to review a memory."""

    memory_id: UUID
    reason: str


@dataclass(frozen=True, slots=True)
class EnqueueWork:
    """Work to do after the commit."""

    kind: WorkKind
    memory_id: UUID


Operation = (
    AddEntity
    | AddAlias
    | ReassignAlias
    | RenameEntity
    | AddMemory
    | MergeInto
    | SupersedeMemory
    | ReviseMemory
    | CopyOrigins
    | RemoveCopiedOrigins
    | MarkOrigins
    | ReviseEntity
    | CountAlias
    | MarkEntityChanges
    | LinkMemories
    | SetLinkStatus
    | FlagForReview
    | EnqueueWork
)
