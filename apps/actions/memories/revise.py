"""Revise a memory: change some of its fields; the former values stay in the history."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.actions.errors import Conflict, NotAllowed, NotFound, Unfit
from apps.actions.get_or_create import actor_of
from apps.actions.memories.edited_triple import with_triple
from apps.actions.memories.slot_conflicts import settle_change
from apps.memories.models import Memory, MemoryOrigin
from apps.memories.writing.plan_writer import apply_plan
from apps.memories.writing.write_context import WriteContext
from apps.pipeline.core.confidence import with_value
from apps.pipeline.core.enums import Status, WorkKind
from apps.pipeline.core.operations import EnqueueWork, Operation, ReviseMemory
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import StalePlan
from apps.pipeline.direct_write.new_memory import redacted_changes
from apps.pipeline.direct_write.trust import MemoryFacts, needs_trust
from apps.pipeline.redaction.redact import redact
from apps.pipeline.review.decisions import approval
from apps.traces.policies import active_policy

MOST_TRIES = 3  # without an expected version, a revision is repeated on the values that another writer has changed
_CLOSED = frozenset({Status.RETRACTED, Status.MERGED})
APPROVED = "approved"

# The history and the ledger contain the verb.
_VERBS: dict[tuple[Status, Status], str] = {
    (Status.PENDING_REVIEW, Status.ACTIVE): APPROVED,
    (Status.PENDING_REVIEW, Status.REJECTED): "rejected",
    (Status.ACTIVE, Status.ARCHIVED): "archived",
    (Status.ARCHIVED, Status.ACTIVE): "restored",
    (Status.REJECTED, Status.PENDING_REVIEW): "reopened",
    (Status.RETRACTED, Status.PENDING_REVIEW): "reopened",
}


@dataclass(frozen=True, slots=True)
class Revision:
    """New values for a memory; `expected_version` is the version that the caller has seen, None for any.

    Besides columns, `changes` may contain the object of the triple: `object` (an ObjectValue) or `value` (its text).
    """

    project_id: UUID
    memory_id: UUID
    changes: Mapping[str, Any]
    api_key_id: UUID | None = None
    person_id: int | None = None  # the member who makes the change in the console
    expected_version: int | None = None
    may_review: bool = False  # whether the caller may change the status
    is_trusted: bool = True  # whether the caller's word counts like a person's
    restores: bool = False  # whether a retracted memory may be changed: a person takes it back for review
    note: str = ""  # the reason, for the ledger
    replaces: frozenset[UUID] = frozenset()  # memories that this one replaces once it is active


def revise(*, revision: Revision) -> None:
    """Apply a revision in one transaction, its texts redacted as the policy says; equal values change nothing.

    Raises NotFound, Conflict for another version than expected and for a retracted or merged memory (except where
    it restores a retracted one), NotAllowed for a change of status without the right to review or one that takes
    trust, Unfit for values that contradict each other.
    """
    policy = active_policy(project_id=revision.project_id).redaction
    changes = redacted_changes(revision.changes, policy=policy)
    revision = replace(revision, changes=changes, note=redact(revision.note, policy=policy).text)
    for _ in range(MOST_TRIES):
        try:
            return _revise_once(revision)
        except StalePlan as stale:
            if revision.expected_version is not None:
                raise Conflict("the memory has changed since that version") from stale
    raise Conflict("the memory is being changed by others; try again")


def _revise_once(revision: Revision) -> None:
    memory = find_memory(project_id=revision.project_id, memory_id=revision.memory_id)
    if revision.expected_version not in (None, memory.version):
        raise Conflict(f"the memory is at version {memory.version}")
    if memory.status in _CLOSED and not (revision.restores and memory.status == Status.RETRACTED):
        raise Conflict(f"the memory is {memory.status}")
    changes, entities = with_triple(memory, revision.changes)
    changes = {name: value for name, value in changes.items() if getattr(memory, name) != value}
    if not changes:
        return
    verb = _verb(memory, changes, revision)
    if not revision.is_trusted:
        check_trust(memory, changes)
    _check_times(memory, changes)
    live = Memory.objects.for_end_user(memory.end_user_id).live().exclude(pk=memory.pk)
    if live.filter(id__in=revision.replaces).count() != len(revision.replaces):
        raise NotFound("there is no such memory to replace")
    with transaction.atomic():
        operations = [*entities, *_operations(memory, changes, verb=verb, revision=revision)]
        apply_revision(
            memory=memory, operations=operations, api_key_id=revision.api_key_id, person_id=revision.person_id
        )


def _operations(memory: Memory, changes: dict[str, Any], *, verb: str, revision: Revision) -> list[Operation]:
    """Return the revision, the closing of the values that it replaces, and the indexing of a new wording.

    Call it in a transaction: it locks out other direct writes of the end user, and reads the live memories then.
    """
    changes = _with_dependent_columns(memory, changes, verb=verb)
    changes, closing = settle_change(memory=memory, changes=changes, replaces=revision.replaces)
    revised = ReviseMemory(
        memory_id=memory.id, expected_version=memory.version, verb=verb, changes=changes, note=revision.note
    )
    is_reworded = not changes.keys().isdisjoint(("content", "predicate", "object_text"))
    indexing = [EnqueueWork(kind=WorkKind.INDEX_MEMORY, memory_id=memory.id)] if is_reworded else []
    return [revised, *closing, *indexing]


def find_memory(*, project_id: UUID, memory_id: UUID) -> Memory:
    """Return a memory of the project. Raises NotFound."""
    memory: Memory | None = (
        Memory.objects.for_project(project_id).defer("terms", "context_terms", "context").filter(id=memory_id).first()
    )
    if memory is None:
        raise NotFound("there is no such memory")
    return memory


def apply_revision(
    *, memory: Memory, operations: list[Operation], api_key_id: UUID | None, person_id: int | None = None
) -> None:
    """Apply operations on one memory, and wake the workers. Raises StalePlan."""
    context = WriteContext(
        project_id=memory.project_id,
        end_user_id=memory.end_user_id,
        actor=actor_of(api_key_id, person_id),
        api_key_id=api_key_id,
    )
    with transaction.atomic():
        apply_plan(plan=WritePlan(operations=tuple(operations)), context=context)


def _verb(memory: Memory, changes: Mapping[str, Any], revision: Revision) -> str:
    if "status" not in changes:
        return "revised"
    if not revision.may_review:
        raise NotAllowed("changing the status needs the scope admin")
    verb = _verb_of(before=Status(memory.status), after=changes["status"])
    if verb is None:
        raise Unfit(f"can't follow {memory.status}", at="/status")
    return verb


def check_trust(memory: Memory, changes: Mapping[str, Any]) -> None:
    """Raise NotAllowed for a change that takes the scope trust."""
    origins = MemoryOrigin.objects.standing().filter(end_user_id=memory.end_user_id, memory=memory)
    facts = MemoryFacts(
        confidence=memory.confidence,
        tags=tuple(memory.tags),
        is_vouched_for=bool(memory.confidence_parts.get("review")) or origins.exists(),
    )
    if field := needs_trust(facts, changes, now=timezone.now()):
        raise NotAllowed(f"this change of {field} needs the scope trust; what the user says is sent as a turn")


def _check_times(memory: Memory, changes: Mapping[str, Any]) -> None:
    begins: datetime = changes.get("valid_from", memory.valid_from)
    ends: datetime | None = changes.get("valid_until", memory.valid_until)
    if ends is not None and ends < begins:
        raise Unfit("must not lie before valid_from", at="/valid_until")
    if ends is None and memory.status == Status.SUPERSEDED:
        raise Unfit("is needed: what is superseded has ended", at="/valid_until")


def _with_dependent_columns(memory: Memory, changes: dict[str, Any], *, verb: str) -> dict[str, Any]:
    """Add the columns that depend on others: confidence and its parts, and the reasons for review."""
    dependent: dict[str, Any] = {}
    if verb == APPROVED:
        policy = active_policy(project_id=memory.project_id).confidence
        dependent = approval(memory.confidence_parts, policy=policy)
    if "confidence" in changes:
        parts = dependent.get("confidence_parts", memory.confidence_parts)
        dependent["confidence_parts"] = with_value(parts, value=changes["confidence"]).parts()
    if changes.get("status") in (Status.ACTIVE, Status.SUPERSEDED):
        dependent["review_reasons"] = []
    return {**dependent, **changes}


def _verb_of(*, before: Status, after: Status) -> str | None:
    """Return the verb of a change of status, or None if it is not allowed. Only the funnel supersedes."""
    return _VERBS.get((before, after))
