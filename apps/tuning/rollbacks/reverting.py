"""Which recorded changes of a memory a rollback takes back, and what the memory is then. Pure."""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from apps.memories.codec import read_columns
from apps.memories.models import Entity, EntityChange, MemoryLink, MemoryOrigin, MemoryVersion
from apps.memories.reading.past import past_values
from apps.pipeline.core.confidence import Confidence, confidence_of, with_recurrence
from apps.pipeline.core.enums import LeftAlone, Status
from apps.pipeline.core.operations import ROLLBACK_UNDONE, ROLLED_BACK
from apps.pipeline.core.policy import ConfidencePolicy
from apps.pipeline.core.statement import StoredMemory

CLOSED_AS_WRONG = frozenset({Status.RETRACTED, Status.REJECTED})
_ENDED = "ended"  # the system closed it when the end came that an earlier change had set
# What people decide about other memories and about entities changes a memory as well, but is no word about it.
_NO_EDITS = frozenset({"superseded", "entity_merged", "entity_split"})
# What closes a memory, or opens it: half of it would leave a superseded memory without an end.
_CLOSING = frozenset({"status", "valid_until", "superseded_by_id"})


@dataclass(frozen=True, slots=True)
class MemoryHistory:
    """A memory as it is, and how it became so."""

    memory: StoredMemory
    added_by: UUID | None = None  # the trace that stored it, or that says it first of those that still do
    superseded_by: UUID | None = None
    changes: Sequence[MemoryVersion] = ()  # oldest first
    origins: Sequence[MemoryOrigin] = ()  # those that count, oldest first
    # The columns of its statement as the first trace says it that stays; empty where that isn't known any more.
    restated: Mapping[str, Any] = field(default_factory=dict)

    @property
    def entity_ids(self) -> frozenset[UUID]:
        """Return the subject and the object of the memory, where they are entities."""
        value = self.memory.object.entity
        return frozenset(each for each in (self.memory.subject_id, value and value.entity_id) if each)


@dataclass(frozen=True, slots=True)
class EntityHistory:
    """An entity as it is, and what traces did to its names."""

    entity: Entity
    stays: bool = False  # it is the end user, was merged into another or stands for others
    records: Sequence[EntityChange] = ()  # oldest first


@dataclass(frozen=True, slots=True)
class UserHistory:
    """Everything that the rollback of some traces of one end user can touch.

    Besides the memories that the traces wrote or changed, `memories` holds those that a memory of the traces has
    closed. `referring` are the subjects and objects of all memories that no rollback has taken back.
    """

    memories: Sequence[MemoryHistory] = ()
    entities: Sequence[EntityHistory] = ()
    links: Sequence[MemoryLink] = ()
    live: Sequence[StoredMemory] = ()  # all of the end user
    repeats: Sequence[UUID] = ()  # other traces that a turn of these kept from being processed
    referring: Mapping[UUID, Set[UUID]] = field(default_factory=dict)  # entity to memories
    holders: Mapping[str, Set[UUID]] = field(default_factory=dict)  # folded description to entities that have it


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory that a rollback, or its undo, leaves alone as a whole or in part, and why.

    A trace is named instead where it stored nothing because it repeats what is taken back.
    """

    memory_id: UUID | None
    reason: LeftAlone
    can_be_forced: bool = False
    trace_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class MemoryInverse:
    """New values of a memory's columns, the turns that say it no more or again, and why something is kept."""

    changes: dict[str, Any] = field(default_factory=dict)
    turn_ids: tuple[UUID, ...] = ()
    kept: Kept | None = None


def effective(changes: Sequence[MemoryVersion]) -> list[MemoryVersion]:
    """Return the changes but for rollbacks that were undone: these cancel each other out."""
    undone = {each.rollback_id for each in changes if each.operation == ROLLBACK_UNDONE}
    return [each for each in changes if each.rollback_id is None or each.rollback_id not in undone]


def values_without(changes: Sequence[MemoryVersion], undone: Collection[int]) -> dict[str, Any]:
    """Return what columns become if some changes, named by the versions that they replaced, had not happened.

    A column that another change has set since keeps its value, and is left out.
    """
    undone = _with_endings(changes, undone)
    values: dict[str, Any] = {}
    set_since: set[str] = set()
    for change in reversed(changes):
        if change.version in undone:
            values |= {name: before for name, before in change.values.items() if name not in set_since}
        else:
            set_since |= change.values.keys()
    return past_values(values)


def edits_since(changes: Sequence[MemoryVersion], undone: Collection[int]) -> list[MemoryVersion]:
    """Return what people and callers have changed since the first of some changes, of the columns that these set."""
    since = [each for each in changes if undone and each.version > min(undone)]
    columns = {name for each in changes if each.version in undone for name in each.values}
    return [each for each in since if is_edit(each) and not columns.isdisjoint(each.values)]


def is_edit(change: MemoryVersion) -> bool:
    """Return True for a change of the memory itself on the word of a person, or of the holder of a key."""
    by_somebody = change.actor.startswith(("person:", "key:"))
    return by_somebody and change.rollback_id is None and change.operation not in _NO_EDITS


def _with_endings(changes: Sequence[MemoryVersion], undone: Collection[int]) -> set[int]:
    """Add the endings that followed from a validity which an undone change had set."""
    ends = [each.version for each in changes if each.version in undone and "valid_until" in each.values]
    follows = {each.version for each in changes if each.operation == _ENDED and ends and each.version > min(ends)}
    return set(undone) | follows


def without_traces(
    history: MemoryHistory, *, traces: Set[UUID], forced: bool, policy: ConfidencePolicy
) -> MemoryInverse:
    """Take back what traces did to a memory.

    What only they say is retracted; what others say as well stays with the others' words and sources. A memory that a
    person or caller has changed since stays as it is unless it is `forced`.
    """
    changes = effective(history.changes)
    undone = {each.version for each in changes if each.trace_id in traces}
    lost = tuple(each.turn_id for each in history.origins if each.trace_id in traces)
    left = [each for each in history.origins if each.trace_id not in traces]
    is_own = history.added_by in traces
    edits = [each for each in changes if is_edit(each)] if is_own else edits_since(changes, undone)
    if is_own and not left and history.memory.status in CLOSED_AS_WRONG:
        return MemoryInverse(turn_ids=lost)
    if edits and not forced:
        return MemoryInverse(kept=Kept(history.memory.id, LeftAlone.EDITED, can_be_forced=True))
    if is_own and not left:
        # Without its place in the trace, so that a run of the trace may store it anew.
        return MemoryInverse({"status": Status.RETRACTED, "candidate_index": None}, turn_ids=lost)
    if not is_own:
        undone |= {each.version for each in edits}
    values = values_without(changes, undone)
    if is_own:
        stays = _with_endings(changes, undone)
        set_by_others = {name for each in changes if each.version not in stays for name in each.values}
        said = _as_said_by(left[0], history)
        values |= {name: value for name, value in said.items() if name not in set_by_others}
    if lost:
        values |= _recounted(history.memory.evolve(**read_columns(values)), left, bool(history.restated), policy)
    kept = Kept(history.memory.id, LeftAlone.SAID_ELSEWHERE) if is_own else None
    return MemoryInverse(values, turn_ids=lost, kept=kept)


def without_rollback(history: MemoryHistory, *, rollback_id: UUID, turn_ids: Collection[UUID]) -> MemoryInverse:
    """Undo what a rollback did to a memory, unless somebody has changed the same since."""
    changes = effective(history.changes)
    undone = {each.version for each in changes if each.rollback_id == rollback_id}
    touched = {name for each in changes if each.version in undone for name in each.values}
    if not touched.isdisjoint(_CLOSING):
        touched |= _CLOSING
    later = [each for each in changes if undone and each.version > min(undone) and each.rollback_id != rollback_id]
    if any(each.operation == ROLLED_BACK and not touched.isdisjoint(each.values) for each in later):
        return MemoryInverse(kept=Kept(history.memory.id, LeftAlone.ROLLED_BACK_SINCE))
    if edits_since(changes, undone):
        return MemoryInverse(kept=Kept(history.memory.id, LeftAlone.EDITED))
    return MemoryInverse(values_without(changes, undone), turn_ids=tuple(turn_ids))


def without_closing(history: MemoryHistory, *, closed_by: Set[UUID]) -> dict[str, Any]:
    """Return the values of a memory that retracted memories have closed, as they were before."""
    changes = effective(history.changes)
    closings = [each.version for each in changes if "superseded_by_id" in each.values]
    return values_without(changes, closings[-1:]) if history.superseded_by in closed_by else {}


def _as_said_by(origin: MemoryOrigin, history: MemoryHistory) -> dict[str, Any]:
    """Return the columns that name a source, and the statement where that is known, as another turn says it."""
    memory = history.memory
    moved = {"valid_from": origin.said_at} if memory.valid_from == memory.said_at else {}
    copied = ("said_at", "evidence", "trace_id", "session_id", "api_key_id", "role")
    source = {name: getattr(origin, name) for name in copied}
    return {**history.restated, **moved, **source, "context": "", "candidate_index": None}


def _recounted(
    memory: StoredMemory, origins: Collection[MemoryOrigin], is_restated: bool, policy: ConfidencePolicy
) -> dict[str, Any]:
    """Return recurrence and confidence of a memory that only these origins say, by their sessions and days."""
    days = max(1, len({(each.session_id, each.said_at.date()) for each in origins}))
    parts = memory.confidence_parts
    if is_restated:
        computed = confidence_of(memory, policy=policy, origins=days)
        confidence = Confidence.from_parts({**computed.parts(), "review": parts.get("review")})
    else:
        confidence = with_recurrence(parts, policy=policy, origins=days)
    return {"recurrence": days, "confidence": confidence.value, "confidence_parts": confidence.parts()}
