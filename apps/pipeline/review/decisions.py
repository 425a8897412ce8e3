"""What a person's decision about memories changes: the operations, and their prediction for the person."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from apps.pipeline.conflict.slots import in_slot
from apps.pipeline.core.confidence import approved, with_recurrence
from apps.pipeline.core.enums import LIVE_STATUSES, LinkResolution, SourceConfidence, SpeechAct, Stakes, Status
from apps.pipeline.core.operations import CopyOrigins, Operation, ReviseMemory, SupersedeMemory
from apps.pipeline.core.policy import ConfidencePolicy, Policy, RetrievalPolicy
from apps.pipeline.core.statement import StoredMemory


@dataclass(frozen=True, slots=True)
class Approve:
    """A pending memory is true; `replaces` names memories that are no longer true."""

    memory_id: UUID
    replaces: frozenset[UUID] = frozenset()


@dataclass(frozen=True, slots=True)
class Merge:
    """A memory says the same as another one, which remains."""

    memory_id: UUID
    into_id: UUID


@dataclass(frozen=True, slots=True)
class Validity:
    """The period in which a statement is true; None leaves the start as it is, and the end open."""

    begins: datetime | None = None
    ends: datetime | None = None


@dataclass(frozen=True, slots=True)
class Settle:
    """How a person settles the link between two memories; `changed_on` is for CHANGED, `validity` for BOTH."""

    from_id: UUID
    to_id: UUID
    resolution: LinkResolution
    validity: Mapping[UUID, Validity] = field(default_factory=dict)
    changed_on: datetime | None = None


Decision = Approve | Merge | Settle


@dataclass(frozen=True, slots=True)
class ReviewContext:
    """The live memories that a decision can affect, and the policy in force."""

    memories: Mapping[UUID, StoredMemory]
    policy: Policy
    contradicts: frozenset[UUID] = frozenset()  # memories that are linked to the one to approve as contradictions


def operations_of(decision: Decision, *, context: ReviewContext) -> tuple[Operation, ...]:
    """Return the operations of a decision, without the status of its link."""
    known = context.memories
    if isinstance(decision, Approve):
        return _activate(known[decision.memory_id], context, verb="approved", replaces=decision.replaces)
    if isinstance(decision, Merge):
        return _merge(known[decision.memory_id], known[decision.into_id], context)
    one, other = known[decision.from_id], known[decision.to_id]
    match decision.resolution:
        case LinkResolution.KEPT_FROM:
            return *_activate(one, context, verb="kept", without=[other.id]), *_rejected(other)
        case LinkResolution.KEPT_TO:
            return *_rejected(one), *_activate(other, context, verb="kept", without=[one.id])
        case LinkResolution.MERGED:
            return _merge(one, other, context)
        case LinkResolution.CHANGED:  # the older memory ends when the newer one begins
            newer, older = newer_first(one, other)
            begins = decision.changed_on or newer.valid_from or newer.said_at
            activated = _activate(newer, context, verb="kept", replaces=[older.id], more={"valid_from": begins})
            others = [each for each in activated if not isinstance(each, SupersedeMemory) or each.memory_id != older.id]
            ended = SupersedeMemory(
                memory_id=older.id, expected_version=older.version, superseded_by=newer.id, valid_until=begins
            )
            return *others, ended
        case LinkResolution.BOTH | LinkResolution.UNRELATED:
            return *_allow(one, decision, context), *_allow(other, decision, context)


class Doubtful(Protocol):
    """A memory with how it was said."""

    @property
    def speech_act(self) -> str:
        """How it was meant."""

    @property
    def source_confidence(self) -> str:
        """How strongly it was said."""

    @property
    def confidence_parts(self) -> Mapping[str, float | None]:
        """The weighted parts of its confidence."""


def is_asserted(memory: Doubtful) -> bool:
    """Return True if the user has said it as a fact: no joke, guess, role or hypothetical."""
    return memory.speech_act == SpeechAct.ASSERTED and memory.source_confidence != SourceConfidence.SPECULATED


def approval(memory: Doubtful, *, policy: ConfidencePolicy, as_uncertain: bool = False) -> dict[str, Any]:
    """Return the columns that change when a person confirms a memory, or keeps it as uncertain."""
    asserted = is_asserted(memory)
    confidence = approved(memory.confidence_parts, policy=policy, is_asserted=asserted, as_uncertain=as_uncertain)
    changes = {
        "status": Status.ACTIVE,
        "review_reasons": [],
        "confidence": confidence.value,
        "confidence_parts": confidence.parts(),
    }
    return {**changes, "source_confidence": SourceConfidence.SPECULATED} if as_uncertain else changes


def _activate(
    memory: StoredMemory,
    context: ReviewContext,
    *,
    verb: str,
    replaces: Collection[UUID] = (),
    without: Collection[UUID] = (),
    more: Mapping[str, Any] | None = None,
) -> tuple[Operation, ...]:
    """Make a memory active by a person's decision; `without` names memories that the same decision removes."""
    changes = {**approval(memory, policy=context.policy.confidence), **(more or {})}
    live = [each for each in context.memories.values() if each.id not in without]
    closed: list[SupersedeMemory] = []
    if memory.status is not Status.ACTIVE or replaces:
        changes, closed = in_slot(_changed(memory, changes), changes, live=live, replaces=replaces)
    return *_revised(memory, changes, verb=verb), *closed


def _revised(memory: StoredMemory, changes: Mapping[str, Any], *, verb: str, note: str = "") -> tuple[Operation, ...]:
    """Return the operation that gives a memory new values, or nothing if it has them."""
    known = {name: value for name, value in changes.items() if name != "review_reasons"}
    if all(hasattr(memory, name) and getattr(memory, name) == value for name, value in known.items()):
        return ()
    revised = ReviseMemory(
        memory_id=memory.id, expected_version=memory.version, verb=verb, changes=dict(changes), note=note
    )
    return (revised,)


def _merge(memory: StoredMemory, into: StoredMemory, context: ReviewContext) -> tuple[Operation, ...]:
    days = max(1, len({*memory.origins, *into.origins}))
    surer = with_recurrence(into.confidence_parts, policy=context.policy.confidence, origins=days)
    surest = into.evolve(confidence_parts=surer.parts())
    took_over = {**approval(surest, policy=context.policy.confidence), "recurrence": days}
    return (
        *_revised(memory, {"status": Status.MERGED, "superseded_by_id": into.id}, verb="merged"),
        *_activate(into, context, verb="took_over", without=[memory.id], more=took_over),
        CopyOrigins(memory_id=into.id, from_id=memory.id),
    )


def _rejected(memory: StoredMemory) -> tuple[Operation, ...]:
    return _revised(memory, {"status": Status.REJECTED}, verb="rejected", note="contradicts")


def _allow(memory: StoredMemory, decision: Settle, context: ReviewContext) -> tuple[Operation, ...]:
    """Make a memory true beside the other one, whatever is in its slot, because a person says so."""
    changes = approval(memory, policy=context.policy.confidence)
    validity = decision.validity.get(memory.id)
    if validity is not None:
        changes |= {"valid_from": validity.begins or memory.valid_from, "valid_until": validity.ends}
    return _revised(memory, changes, verb="kept")


def newer_first(one: StoredMemory, other: StoredMemory) -> tuple[StoredMemory, StoredMemory]:
    """Return two memories in the order in which they were said, the later one first."""
    return (other, one) if other.said_at > one.said_at else (one, other)


@dataclass(frozen=True, slots=True)
class ClosedMemory:
    """A memory that a decision closes, in its state before; `at` is None if it was never true."""

    memory: StoredMemory
    status: Status  # after the decision; still active if the end is in the future
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Consequences:
    """The effects of a decision on what agents see."""

    shown: Mapping[UUID, tuple[Stakes, ...]]  # for each memory that is live afterwards, the stakes at which it is shown
    ends: tuple[ClosedMemory, ...]
    successor: StoredMemory | None = None  # the later value because of which the memory becomes history
    beside: tuple[StoredMemory, ...] = ()  # contradicting memories that stay active


def consequences_of(decision: Decision, *, context: ReviewContext, now: datetime) -> Consequences:
    """Predict the effects of a decision from its operations."""
    before = context.memories
    operations = operations_of(decision, context=context)
    after = dict(before)
    for each in operations:
        if isinstance(each, ReviseMemory):
            after[each.memory_id] = _changed(after[each.memory_id], each.changes)
        elif isinstance(each, SupersedeMemory):
            after[each.memory_id] = _changed(after[each.memory_id], each.changes(now=now))
    changed = {id: each for id, each in after.items() if each != before[id]}
    main = None if isinstance(decision, Settle) else decision.memory_id
    is_active = main is not None and after[main].status is Status.ACTIVE
    is_history = main is not None and after[main].status is Status.SUPERSEDED
    revised = [each.changes for each in operations if isinstance(each, ReviseMemory)] if is_history else []
    successors = [each["superseded_by_id"] for each in revised if "superseded_by_id" in each]
    return Consequences(
        shown={
            id: shown_at(each, policy=context.policy.retrieval, now=now)
            for id, each in changed.items()
            if each.status in LIVE_STATUSES
        },
        ends=tuple(
            ClosedMemory(before[id], each.status, each.valid_until if each.status in _TRUE_ONCE else None)
            for id, each in changed.items()
            if id != main
            and (each.status not in LIVE_STATUSES or each.valid_until not in (None, before[id].valid_until))
        ),
        successor=context.memories[successors[0]] if successors else None,
        beside=tuple(
            after[id]
            for id in sorted(context.contradicts & after.keys())
            if is_active and after[id].status is Status.ACTIVE and after[id].valid_until == before[id].valid_until
        ),
    )


_TRUE_ONCE = LIVE_STATUSES | {Status.SUPERSEDED}


def shown_at(memory: StoredMemory, *, policy: RetrievalPolicy, now: datetime) -> tuple[Stakes, ...]:
    """Return the stakes at which search and context may show a memory, highest first."""
    is_over = memory.valid_until is not None and memory.valid_until <= now
    if is_over or memory.status not in LIVE_STATUSES:
        return ()
    allowed = tuple(Stakes) if memory.status is Status.ACTIVE else (Stakes.LOW,)
    return tuple(each for each in allowed if memory.confidence >= policy.least_confidence[each])


def _changed(memory: StoredMemory, changes: Mapping[str, Any]) -> StoredMemory:
    """Return a memory with the new values of those columns that are fields of it."""
    return memory.evolve(**{name: value for name, value in changes.items() if hasattr(memory, name)})
