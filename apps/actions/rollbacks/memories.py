"""What becomes of one memory when traces are taken back, or when that is undone."""

from collections.abc import Callable, Collection, Mapping, Set
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from apps.actions.rollbacks.changes import edits_since, effective, is_edit, set_by_others, values_without
from apps.actions.rollbacks.history import Kept, KnownOrigin, MemoryHistory
from apps.pipeline.core.confidence import Confidence, confidence_of, with_recurrence
from apps.pipeline.core.enums import LeftAlone, Status
from apps.pipeline.core.operations import ROLLED_BACK
from apps.pipeline.core.policy import ConfidencePolicy
from apps.pipeline.core.statement import StoredMemory

ReadColumns = Callable[[Mapping[str, Any]], Mapping[str, Any]]  # columns of a memory to fields of a StoredMemory
CLOSED_AS_WRONG = frozenset({Status.RETRACTED, Status.REJECTED})


@dataclass(frozen=True, slots=True)
class MemoryInverse:
    """New values of a memory's columns, the turns that say it no more or again, and why something is kept."""

    changes: dict[str, Any] = field(default_factory=dict)
    turn_ids: tuple[UUID, ...] = ()
    kept: Kept | None = None


def without_traces(
    history: MemoryHistory,
    *,
    traces: Set[UUID],
    forced: bool,
    policy: ConfidencePolicy,
    read: ReadColumns,
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
    undone |= {each.version for each in edits if not is_own}
    values = values_without(changes, undone)
    if is_own:
        others = set_by_others(changes, undone)
        values |= {name: value for name, value in _as_said_by(left[0], history).items() if name not in others}
    if lost:
        values |= _recounted(history.memory.evolve(**read(values)), left, bool(history.restated) and is_own, policy)
    kept = Kept(history.memory.id, LeftAlone.SAID_ELSEWHERE) if is_own else None
    return MemoryInverse(values, turn_ids=lost, kept=kept)


# What closes a memory, or opens it: half of it would leave a superseded memory without an end.
_CLOSING = frozenset({"status", "valid_until", "superseded_by_id"})


def without_rollback(history: MemoryHistory, *, rollback_id: UUID, turn_ids: Collection[UUID]) -> MemoryInverse:
    """Undo what a rollback did to a memory, unless somebody has changed the same since."""
    changes = effective(history.changes)
    undone = {each.version for each in changes if each.rollback_id == rollback_id}
    touched = {name for each in changes if each.version in undone for name in each.replaced}
    if not touched.isdisjoint(_CLOSING):
        touched |= _CLOSING
    later = [each for each in changes if undone and each.version > min(undone) and each.rollback_id != rollback_id]
    if any(each.operation == ROLLED_BACK and not touched.isdisjoint(each.replaced) for each in later):
        return MemoryInverse(kept=Kept(history.memory.id, LeftAlone.ROLLED_BACK_SINCE))
    if edits_since(changes, undone):
        return MemoryInverse(kept=Kept(history.memory.id, LeftAlone.EDITED))
    return MemoryInverse(values_without(changes, undone), turn_ids=tuple(turn_ids))


def without_closing(history: MemoryHistory, *, closed_by: Set[UUID]) -> dict[str, Any]:
    """Return the values of a memory that retracted memories have closed, as they were before."""
    changes = effective(history.changes)
    closings = [each.version for each in changes if "superseded_by_id" in each.replaced]
    if history.superseded_by not in closed_by or not closings:
        return {}
    return values_without(changes, closings[-1:])


def _as_said_by(origin: KnownOrigin, history: MemoryHistory) -> dict[str, Any]:
    """Return the columns that name a source, and the statement where that is known, as another turn says it."""
    memory = history.memory
    moved = {"valid_from": origin.said_at} if memory.valid_from == memory.said_at else {}
    return {
        **history.restated,
        **moved,
        "said_at": origin.said_at,
        "evidence": origin.evidence,
        "context": "",
        "trace_id": origin.trace_id,
        "candidate_index": None,
        "session_id": origin.session_id,
        "api_key_id": origin.api_key_id,
        "role": origin.role,
    }


def _recounted(
    memory: StoredMemory, origins: Collection[KnownOrigin], is_restated: bool, policy: ConfidencePolicy
) -> dict[str, Any]:
    """Return recurrence and confidence of a memory that only these origins say."""
    days = max(1, len({each.key for each in origins}))
    parts = memory.confidence_parts
    if is_restated:
        computed = confidence_of(memory, policy=policy, origins=days)
        confidence = Confidence.from_parts({**computed.parts(), "review": parts.get("review")})
    else:
        confidence = with_recurrence(parts, policy=policy, origins=days)
    return {"recurrence": days, "confidence": confidence.value, "confidence_parts": confidence.parts()}
