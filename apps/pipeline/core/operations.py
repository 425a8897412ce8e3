"""What a plan can consist of: one value for each kind of change, of entities, memories, links and work."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.pipeline.core.confidence import Confidence
from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import LinkKind, LinkStatus, Status, WorkKind
from apps.pipeline.core.statement import Candidate
from apps.pipeline.core.turn import SourceTurn

ROLLED_BACK, ROLLBACK_UNDONE = "rolled_back", "rollback_undone"  # verbs of history and ledger, resolution of links


@dataclass(frozen=True, slots=True)
class PlannedOrigin:
    """One turn that says a memory: who, where, when and in which words."""

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
    """One more name of an entity; a known one only counts up."""

    entity_id: UUID
    alias: str


@dataclass(frozen=True, slots=True)
class ReassignAlias:
    """A description passes to an entity from every other that had it: one manager at a time."""

    entity_id: UUID
    alias: str


@dataclass(frozen=True, slots=True)
class RenameEntity:
    """A name became known or was corrected; the former name stays as an alias."""

    entity_id: UUID
    name: str


@dataclass(frozen=True, slots=True)
class AddMemory:
    """A new memory, with everything that is known of it at write time."""

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
    context: str = ""  # the words around the quote, for the lexical index
    expires_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MergeInto:
    """One more source of a known memory; the better statement wins, the other stays in the history."""

    memory_id: UUID
    expected_version: int
    candidate: Candidate
    origins: tuple[PlannedOrigin, ...]
    changes: Mapping[str, Any]  # field of a stored memory to its new value
    confidence: Confidence
    status: Status
    promotes: bool  # it was pending and is active now: nobody needs to look at it any more
    recurrence: int  # distinct sessions and days that say it, this one included


@dataclass(frozen=True, slots=True)
class SupersedeMemory:
    """A newer value closes an older one; nothing is deleted."""

    memory_id: UUID
    expected_version: int
    superseded_by: UUID
    valid_until: datetime  # one that lies ahead leaves the memory active until then

    def changes(self, *, now: datetime) -> dict[str, Any]:
        """Return the fields of a stored memory that change when the plan is applied."""
        closed = {"status": Status.SUPERSEDED} if self.valid_until <= now else {}
        return {**closed, "valid_until": self.valid_until}


@dataclass(frozen=True, slots=True)
class ReviseMemory:
    """Named fields of a known memory get new values, the old ones stay in the history."""

    memory_id: UUID
    expected_version: int
    verb: str  # as the history and the ledger name it: "revised", "approved", "retracted"…
    changes: Mapping[str, Any]  # column name to new value
    note: str = ""  # a word of the vocabulary that says why, for the ledger


@dataclass(frozen=True, slots=True)
class CopyOrigins:
    """A memory takes over the sources of another that says the same."""

    memory_id: UUID
    from_id: UUID


@dataclass(frozen=True, slots=True)
class RemoveCopiedOrigins:
    """A memory gives back the sources that it took over since a moment."""

    memory_id: UUID
    from_id: UUID
    since: datetime


@dataclass(frozen=True, slots=True)
class WithdrawOrigins:
    """A rollback takes back sources of a memory; they stay stored and count no more."""

    memory_id: UUID
    turn_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class RestoreOrigins:
    """The undo of a rollback lets withdrawn sources count again."""

    memory_id: UUID
    turn_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class ReviseEntity:
    """A rollback takes back what traces made of an entity, or its undo restores it. None leaves a value as it is."""

    entity_id: UUID
    mentions: int = 0  # added to the count
    name: str | None = None
    withdrawn: bool | None = None
    last_mentioned_at: datetime | None = None


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
    """Two memories that a person has to look at together."""

    from_id: UUID
    to_id: UUID
    kind: LinkKind


@dataclass(frozen=True, slots=True)
class SetLinkStatus:
    """A person settles a link, or opens it again."""

    from_id: UUID
    to_id: UUID
    kind: LinkKind
    expected: LinkStatus
    status: LinkStatus
    resolution: str = ""


@dataclass(frozen=True, slots=True)
class FlagForReview:
    """A reason for which a person has to look at a memory."""

    memory_id: UUID
    reason: str


@dataclass(frozen=True, slots=True)
class EnqueueWork:
    """Work that the commit leaves behind."""

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
    | WithdrawOrigins
    | RestoreOrigins
    | ReviseEntity
    | CountAlias
    | MarkEntityChanges
    | LinkMemories
    | SetLinkStatus
    | FlagForReview
    | EnqueueWork
)
