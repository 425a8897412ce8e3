"""Undo a person's decision: memories get the values back that it replaced, and its link is open again."""

from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile
from typing import Any, cast
from uuid import UUID

from django.db import transaction
from django.db.models import Field

from apps.actions.errors import Conflict, NotAllowed, NotFound
from apps.actions.get_or_create import actor_of
from apps.actions.memories.revise import find_memory
from apps.actions.memories.slot_conflicts import beside_others, settle_slot
from apps.actions.review.review_decisions import ReviewDecision, Reviewer, SeenVersion, apply_decision
from apps.memories.models import Memory, MemoryLink, MemoryVersion
from apps.pipeline.core.enums import LinkKind, LinkStatus, Status, WorkKind
from apps.pipeline.core.operations import EnqueueWork, Operation, RemoveCopiedOrigins, ReviseMemory, SetLinkStatus

# Operations as the history names them.
MERGED = "merged"  # a memory handed its sources over
SUPERSEDED = "superseded"
UNDONE = "undone"
_OF_CLOSING = frozenset({"superseded_by_id", "valid_until", "canonical_hash"})  # may differ once it is open again


def undo(*, by: Reviewer, decided: ReviewDecision) -> ReviewDecision:
    """Take a person's own decision about some memories back; the history keeps both the decision and its undoing.

    All of them or none. What other decisions of the same person closed or opened again since does not stand in the way.
    Raises NotFound, NotAllowed for a change by somebody else, and Conflict when a memory or the link has been changed
    again since.
    """
    owed: dict[UUID, list[Operation]] = {}
    own = {seen.memory_id for seen in decided.memories}
    undone: list[SeenVersion] = []
    with transaction.atomic():
        for seen in decided.memories:
            memory = find_memory(project_id=by.project_id, memory_id=seen.memory_id)
            owed.setdefault(memory.end_user_id, []).extend(_back(by, memory, seen, own))
            undone.append(SeenVersion(memory.pk, memory.version + 1))
        if decided.link_id is not None:
            link = _settled(by, decided.link_id)
            owed.setdefault(link.end_user_id, []).append(_reopened(link))
        for end_user_id, operations in owed.items():
            apply_decision(by=by, end_user_id=end_user_id, operations=operations)
    return ReviewDecision(memories=tuple(undone))


def _back(by: Reviewer, memory: Memory, seen: SeenVersion, own: Collection[UUID]) -> Iterator[Operation]:
    changes = _versions(memory, since=seen.version - 1)
    if not changes or changes[0].version != seen.version - 1:
        raise NotFound("there is no earlier version")
    past, *since = changes
    actor = actor_of(None, by.person_id)
    if past.actor != actor:
        raise NotAllowed("somebody else has changed the memory since")
    if not _are_side_effects(memory, since, actor=actor):
        raise Conflict("the memory has been changed since")
    values = _values_before([past, *since])
    yield from _restored(memory, values, own)
    if not values.keys().isdisjoint(("content", "predicate", "object_text")):
        yield EnqueueWork(kind=WorkKind.INDEX_MEMORY, memory_id=memory.pk)
    yield from _opened_again(memory, past, own)
    if past.operation == MERGED and memory.superseded_by_id is not None:
        yield RemoveCopiedOrigins(memory_id=memory.superseded_by_id, from_id=memory.pk, since=past.known_until)


def _versions(memory: Memory, *, since: int) -> list[MemoryVersion]:
    """Return the changes of a memory from a version on, oldest first."""
    rows = MemoryVersion.objects.filter(end_user_id=memory.end_user_id, memory=memory, version__gte=since)
    return list(rows.order_by("version"))


def _are_side_effects(memory: Memory, changes: Sequence[MemoryVersion], *, actor: str) -> bool:
    """Return True if a person's other decisions did nothing but close a memory and open it again, in turns.

    The undoing of its own decision is in the history as well, but it does not leave the memory as the decision did.
    """
    is_in_turns = all(
        change.actor == actor and change.operation == (SUPERSEDED, UNDONE)[number % 2]
        for number, change in enumerate(changes)
    )
    decided = _values_before(changes)
    return is_in_turns and all(
        getattr(memory, name) == value or (name == "status" and memory.status == Status.SUPERSEDED)
        for name, value in decided.items()
        if name not in _OF_CLOSING
    )


def _values_before(changes: Sequence[MemoryVersion]) -> dict[str, Any]:
    """Return the values that consecutive changes replaced, as they were before the first of them."""
    values: dict[str, Any] = {}
    for change in reversed(changes):
        values |= {name: _read(name, value) for name, value in change.values.items()}
    return values


def _opened_again(memory: Memory, past: MemoryVersion, own: Collection[UUID]) -> Iterator[Operation]:
    """Open the values that a memory has closed since the undone change made it active."""
    closed = Memory.objects.filter(
        end_user_id=memory.end_user_id, superseded_by=memory, updated_at__gte=past.known_until
    ).exclude(pk__in=own)
    for each in closed if past.operation != MERGED else ():
        yield from _restored(each, _values_before(_closings(each)), own)


def _closings(closed: Memory) -> list[MemoryVersion]:
    """Return the latest changes of a memory by which decisions closed it and opened it again, oldest first."""
    changes = reversed(_versions(closed, since=1))
    return list(takewhile(lambda change: change.operation in (SUPERSEDED, UNDONE), changes))[::-1]


def _restored(memory: Memory, changes: dict[str, Any], own: Collection[UUID]) -> Iterator[Operation]:
    """Give values back; what becomes live again meets what has come meanwhile. Raises Conflict for what is known."""
    closing: list[Operation] = []
    changes = beside_others(memory=memory, changes=changes, apart_from=own)
    if changes.get("status") == Status.ACTIVE and memory.status != Status.ACTIVE:
        changes, closing = settle_slot(memory=memory, changes=changes, apart_from=own)
    yield ReviseMemory(memory_id=memory.pk, expected_version=memory.version, verb=UNDONE, changes=changes)
    yield from closing


def _read(column: str, value: Any) -> Any:
    return cast("Field[Any, Any]", Memory._meta.get_field(column)).to_python(value)


def _settled(by: Reviewer, link_id: UUID) -> MemoryLink:
    link = MemoryLink.objects.for_project(by.project_id).filter(pk=link_id).first()
    if link is None:
        raise NotFound("there is no such link")
    return link


def _reopened(link: MemoryLink) -> SetLinkStatus:
    return SetLinkStatus(
        from_id=link.from_memory_id,
        to_id=link.to_memory_id,
        kind=LinkKind(link.kind),
        expected=LinkStatus.SETTLED,
        status=LinkStatus.OPEN,
    )
