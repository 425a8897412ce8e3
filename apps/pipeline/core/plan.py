"""WritePlan: what a trace would write, as a list of operations."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from apps.pipeline.core.draft import Draft, Ruling
from apps.pipeline.core.enums import LinkKind, Reason, Status, WorkKind
from apps.pipeline.core.memory_conversion import (
    candidate_confidence,
    canonical_hash_of,
    closes_at,
    context_of,
    days_of,
    ends_at,
    merged_confidence,
    origins_of,
    said_at,
    source_of,
    starts_at,
)
from apps.pipeline.core.operations import (
    AddAlias,
    AddEntity,
    AddMemory,
    EnqueueWork,
    FlagForReview,
    LinkMemories,
    MergeInto,
    Operation,
    ReassignAlias,
    RenameEntity,
    ReviseMemory,
    SupersedeMemory,
)
from apps.pipeline.core.statement import StoredMemory

_Operation = TypeVar("_Operation", bound=Operation)


@dataclass(frozen=True, slots=True)
class WritePlan:
    """Operations in the order in which they are applied, in one transaction."""

    operations: tuple[Operation, ...] = ()

    def statements(self) -> tuple[AddMemory | MergeInto, ...]:
        """Return the statements of the plan: new memories and merges into known ones."""
        return *self.of(AddMemory), *self.of(MergeInto)

    def without(self, kind: type[Operation]) -> "WritePlan":
        """Return the plan without the operations of one kind."""
        return WritePlan(tuple(each for each in self.operations if not isinstance(each, kind)))

    def of(self, kind: type[_Operation]) -> tuple[_Operation, ...]:
        """Return the operations of one kind, in their order."""
        return tuple(operation for operation in self.operations if isinstance(operation, kind))


def plan_from(draft: Draft) -> WritePlan:
    """Convert a draft to operations: entities first, then what its rulings write, then what ends without a new memory.

    What the user clearly asks to forget is retracted; what may be meant is hidden until a person has decided. A memory
    that the same trace closes or repeats is left to what the trace says of it. One that waits for review already keeps
    its reasons, which a person has to know who refuses the forgetting.
    """
    operations: list[Operation] = [AddEntity(entity=entity) for entity in draft.new_entities]
    operations += [RenameEntity(entity_id=entity_id, name=name) for entity_id, name in draft.renamed]
    operations += [AddAlias(entity_id=entity_id, alias=alias) for entity_id, alias in draft.new_aliases]
    operations += [ReassignAlias(entity_id=entity_id, alias=alias) for entity_id, alias in draft.moved_aliases]
    operations += [operation for ruling in draft.rulings for operation in _from_ruling(draft, ruling)]
    outcomes = (
        (draft.forgotten, "retracted", Status.RETRACTED),
        (draft.maybe_forgotten, "doubted", Status.PENDING_REVIEW),
    )
    for memories, verb, status in outcomes:
        for known in draft.left_alone(memories):
            waits = known.status is Status.PENDING_REVIEW
            reasons = {} if waits else {"review_reasons": [Reason.ASKED_TO_FORGET.value]}
            changes = {"status": status, **reasons}
            note = Reason.ASKED_TO_FORGET
            operations.append(ReviseMemory(known.id, known.version, verb=verb, changes=changes, note=note))
    told_at = max((turn.said_at for turn in draft.request.turns), default=None)
    for known in draft.left_alone(draft.ended):  # what ends on a later day stays active until then
        is_over = told_at is None or known.valid_until is None or known.valid_until <= told_at
        over = {"status": Status.SUPERSEDED} if is_over else {}
        ended = {**over, "valid_until": known.valid_until}
        verb = "ended" if is_over else "revised"
        operations.append(ReviseMemory(known.id, known.version, verb=verb, changes=ended))
    return WritePlan(tuple(operations))


def _from_ruling(draft: Draft, ruling: Ruling) -> Iterator[Operation]:
    known = ruling.merge_into
    if known is None:
        yield _add(draft, ruling)
    else:
        yield MergeInto(
            memory_id=known.id,
            expected_version=known.version,
            candidate=ruling.candidate,
            origins=origins_of(draft, ruling.candidate),
            changes=ruling.changes,
            confidence=merged_confidence(draft, ruling.candidate, known.evolve(**ruling.changes)),
            status=Status.ACTIVE if ruling.promotes else known.status,
            promotes=ruling.promotes,
            recurrence=max(1, len(days_of(draft, ruling.candidate, known))),
        )
    if known is None or "content" in ruling.changes:
        yield EnqueueWork(kind=WorkKind.INDEX_MEMORY, memory_id=ruling.memory_id)
    for older in ruling.supersedes:
        yield SupersedeMemory(
            memory_id=older.id,
            expected_version=older.version,
            superseded_by=ruling.memory_id,
            valid_until=closes_at(draft, ruling.candidate, older),
        )
    kinds: Iterable[tuple[LinkKind, tuple[StoredMemory, ...]]] = (
        (LinkKind.CONTRADICTS, ruling.contradicts),
        (LinkKind.POSSIBLE_DUPLICATE, ruling.possible_duplicates),
    )
    for kind, others in kinds:
        for other in others:
            yield LinkMemories(from_id=ruling.memory_id, to_id=other.id, kind=kind)
    for reason in ruling.review_reasons:
        yield FlagForReview(memory_id=ruling.memory_id, reason=reason)


def _add(draft: Draft, ruling: Ruling) -> AddMemory:
    candidate, source = ruling.candidate, source_of(draft, ruling.candidate)
    given, newer = candidate.given, ruling.superseded_by
    status = given.status if given and given.status is not None else Status.ACTIVE
    superseded_by = given.superseded_by if given else None
    starts, ends = starts_at(draft, candidate), ends_at(draft, candidate)
    if newer is not None:  # a value that arrives late ends where a newer one begins
        status, superseded_by = Status.SUPERSEDED, newer.id
        began = max(newer.valid_from or newer.said_at, starts)
        ends = began if ends is None else min(began, ends)
    elif ruling.needs_review:
        status = Status.PENDING_REVIEW
    return AddMemory(
        memory_id=ruling.memory_id,
        candidate=candidate,
        origins=origins_of(draft, candidate),
        status=status,
        confidence=candidate_confidence(draft, candidate),
        canonical_hash=canonical_hash_of(draft, ruling),
        said_at=said_at(draft, candidate),
        valid_from=starts,
        valid_until=ends,
        superseded_by=superseded_by,
        context=context_of(draft, candidate),
        expires_at=given.expires_at if given else None,
        metadata=source.metadata,
        agent_scope=source.scope,
        private_to=draft.private_to,
    )
