"""Undo a review decision: memories get the replaced values back, and its link is open again."""

from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db import transaction

from apps.common.errors import Conflict, NotAllowed, NotFound
from apps.memories.ledger.actor import current_actor
from apps.memories.models import Memory, MemoryLink, MemoryVersion
from apps.memories.reading.past import past_values
from apps.memories.services.revising import apply_decision, find_memory, settle_change
from apps.pipeline.core.enums import LinkKind, LinkStatus, Status, WorkKind
from apps.pipeline.core.operations import EnqueueWork, Operation, RemoveCopiedOrigins, ReviseMemory, SetLinkStatus
from apps.review.services import ReviewDecision, SeenVersion
from apps.traces.get_or_create import hold_end_user

# Names of operations in the history.
MERGED = "merged"  # the memory gave its origins to another one
SUPERSEDED = "superseded"
UNDONE = "undone"
_OF_CLOSING = frozenset({"superseded_by_id", "valid_until", "canonical_hash"})  # may differ once it is open again


def undo(*, project_id: UUID, decided: ReviewDecision) -> None:
    """Undo a person's own decision about some memories, all or none; decision and undo stay in the history.

    Memories that other decisions of the same person have closed or reopened since can still be undone. Raises NotFound,
    NotAllowed for a change by another person, and Conflict if a memory or the link has been changed since.
    """
    by_user: dict[UUID, list[Operation]] = {}
    own = {seen.memory_id for seen in decided.memories}
    memories = Memory.objects.for_project(project_id)
    with transaction.atomic():
        # In one order, as everywhere, so that no two transactions wait for each other.
        for end_user_id in sorted(set(memories.filter(pk__in=own).values_list("end_user_id", flat=True))):
            hold_end_user(end_user_id)
        for seen in decided.memories:
            memory = find_memory(project_id=project_id, memory_id=seen.memory_id)
            by_user.setdefault(memory.end_user_id, []).extend(_undo_operations(memory, seen, own))
        if decided.link_id is not None:
            link = MemoryLink.objects.for_project(project_id).filter(pk=decided.link_id).first()
            if link is None:
                raise NotFound("there is no such link")
            reopened = SetLinkStatus(link.from_memory_id, link.to_memory_id, LinkKind(link.kind), LinkStatus.OPEN)
            by_user.setdefault(link.end_user_id, []).append(reopened)
        for end_user_id, operations in sorted(by_user.items(), key=itemgetter(0)):
            apply_decision(project_id=project_id, end_user_id=end_user_id, operations=operations)


def _undo_operations(memory: Memory, seen: SeenVersion, own: Collection[UUID]) -> Iterator[Operation]:
    changes = _versions(memory, since=seen.version - 1)
    if not changes or changes[0].version != seen.version - 1:
        raise NotFound("there is no earlier version")
    check_undo(memory, changes)
    past = changes[0]
    values = _values_before(changes)
    yield from _restored(memory, values, own)
    if not values.keys().isdisjoint(("content", "predicate", "object_text")):
        yield EnqueueWork(kind=WorkKind.INDEX_MEMORY, memory_id=memory.pk)
    if past.operation != MERGED:  # reopen the values that it has closed since the undone change made it active
        closed = Memory.objects.for_end_user(memory.end_user_id).filter(superseded_by=memory)
        for each in closed.filter(updated_at__gte=past.known_until).exclude(pk__in=own):
            history = reversed(_versions(each, since=1))
            # The latest changes by which decisions closed the memory and reopened it, oldest first.
            closings = list(takewhile(lambda change: change.operation in (SUPERSEDED, UNDONE), history))[::-1]
            yield from _restored(each, _values_before(closings), own)
    elif memory.superseded_by_id is not None:
        yield RemoveCopiedOrigins(memory_id=memory.superseded_by_id, from_id=memory.pk, since=past.known_until)


def check_undo(memory: Memory, changes: Sequence[MemoryVersion]) -> None:
    """Check that the current actor may take back the first of the latest changes of a memory, oldest first.

    Raises NotAllowed and Conflict as undo() does, which may still find that another memory is in the way.
    """
    if changes[0].actor != current_actor():
        raise NotAllowed("somebody else has changed the memory since")
    # Other decisions of the actor may have closed the memory and reopened it, in alternation. The undo of the decision
    # itself is in the history as well, but leaves other values than the decision.
    later = changes[1:]
    alternates = all(
        change.actor == current_actor() and change.operation == (SUPERSEDED, UNDONE)[number % 2]
        for number, change in enumerate(later)
    )
    is_as_decided = all(
        getattr(memory, name) == value or (name == "status" and memory.status == Status.SUPERSEDED)
        for name, value in _values_before(later).items()
        if name not in _OF_CLOSING
    )
    if not (alternates and is_as_decided):
        raise Conflict("the memory has been changed since")


def _versions(memory: Memory, *, since: int) -> list[MemoryVersion]:
    """Return the changes of a memory since a version, oldest first."""
    rows = MemoryVersion.objects.filter(end_user_id=memory.end_user_id, memory=memory, version__gte=since)
    return list(rows.order_by("version"))


def _values_before(changes: Sequence[MemoryVersion]) -> dict[str, Any]:
    """Return the values that consecutive changes replaced, as they were before the first of them."""
    values: dict[str, Any] = {}
    for change in reversed(changes):
        values |= past_values(change.values)
    return values


def _restored(memory: Memory, changes: dict[str, Any], own: Collection[UUID]) -> Iterator[Operation]:
    """Restore values; a memory that becomes active again settles its slot. Raises Conflict for a duplicate."""
    changes, closing = settle_change(memory=memory, changes=changes, apart_from=own)
    yield ReviseMemory(memory_id=memory.pk, expected_version=memory.version, verb=UNDONE, changes=changes)
    yield from closing
