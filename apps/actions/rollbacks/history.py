"""What is recorded of one end user around some traces: the input of a rollback and of its undo."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.pipeline.core.enums import EntityChangeKind, LeftAlone, LinkKind, LinkStatus, Role
from apps.pipeline.core.statement import StoredMemory


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """One change of a memory, with the values of columns that it replaced."""

    version: int  # that it replaced
    operation: str
    replaced: Mapping[str, Any]
    trace_id: UUID | None = None
    rollback_id: UUID | None = None
    is_by_person: bool = False  # or by the holder of a key, on their own word


@dataclass(frozen=True, slots=True)
class KnownOrigin:
    """A turn that says a memory, and the trace that found it there."""

    turn_id: UUID
    trace_id: UUID
    session_id: UUID
    said_at: datetime
    role: Role
    evidence: str
    api_key_id: UUID | None = None

    @property
    def key(self) -> tuple[UUID, str]:
        """Return what makes an origin distinct: its session and its day."""
        return self.session_id, self.said_at.date().isoformat()


@dataclass(frozen=True, slots=True)
class MemoryHistory:
    """A memory as it is, and how it became so."""

    memory: StoredMemory
    added_by: UUID | None = None  # the trace that stored it, or that says it first of those that still do
    superseded_by: UUID | None = None
    changes: tuple[RecordedChange, ...] = ()  # oldest first
    origins: tuple[KnownOrigin, ...] = ()  # those that count, oldest first
    # The columns of its statement as the first trace says it that stays; empty where that isn't known any more.
    restated: Mapping[str, Any] = field(default_factory=dict)

    @property
    def entity_ids(self) -> frozenset[UUID]:
        """Return the subject and the object of the memory, where they are entities."""
        value = self.memory.object.entity
        return frozenset(each for each in (self.memory.subject_id, value and value.entity_id) if each)


@dataclass(frozen=True, slots=True)
class EntityRecord:
    """What a trace did to a name of an entity; withdrawn records are left out."""

    id: UUID
    trace_id: UUID
    kind: EntityChangeKind
    alias: str
    folded: str
    former: str = ""
    uses: int = 1


@dataclass(frozen=True, slots=True)
class EntityHistory:
    """An entity as it is, and what traces did to its names."""

    id: UUID
    name: str
    added_by: UUID | None = None
    stays: bool = False  # it is the end user, was merged into another or stands for others
    records: tuple[EntityRecord, ...] = ()  # oldest first


@dataclass(frozen=True, slots=True)
class KnownLink:
    """A link between two memories."""

    from_id: UUID
    to_id: UUID
    kind: LinkKind
    status: LinkStatus
    trace_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class UserHistory:
    """Everything that the rollback of some traces of one end user can touch.

    Besides the memories that the traces wrote or changed, `memories` holds those that a memory of the traces has
    closed. `referring` are the subjects and objects of all memories that no rollback has taken back.
    """

    memories: tuple[MemoryHistory, ...] = ()
    entities: tuple[EntityHistory, ...] = ()
    links: tuple[KnownLink, ...] = ()
    live: tuple[StoredMemory, ...] = ()  # all of the end user
    repeats: tuple[UUID, ...] = ()  # other traces that a turn of these kept from being processed
    referring: Mapping[UUID, frozenset[UUID]] = field(default_factory=dict)  # entity to memories
    holders: Mapping[str, frozenset[UUID]] = field(default_factory=dict)  # folded description to entities that have it


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory that a rollback, or its undo, leaves alone as a whole or in part, and why.

    A trace is named instead where it stored nothing because it repeats what is taken back.
    """

    memory_id: UUID | None
    reason: LeftAlone
    can_be_forced: bool = False
    trace_id: UUID | None = None
