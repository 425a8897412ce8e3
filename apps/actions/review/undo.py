"""Undo a person's decision: memories get the values back that it replaced, and its link is open again."""

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from django.db import transaction
from django.db.models import Field

from apps.actions.errors import NotAllowed, NotFound
from apps.actions.get_or_create import actor_of
from apps.actions.memories.slot_conflicts import beside_others, settle_slot
from apps.actions.review.review_decisions import ReviewDecision, Reviewer, apply_decision, find_seen
from apps.memories.models import Memory, MemoryLink, MemoryVersion
from apps.pipeline.core.enums import LinkKind, LinkStatus, Status, WorkKind
from apps.pipeline.core.operations import EnqueueWork, Operation, RemoveCopiedOrigins, ReviseMemory, SetLinkStatus

MERGED = "merged"  # the operation with which a memory handed its sources over


def undo(*, by: Reviewer, decided: ReviewDecision) -> ReviewDecision:
    """Take a person's own last change of some memories back; the history keeps both the change and its undoing.

    All of them or none. Raises NotFound, NotAllowed for a change by somebody else, and Conflict when a memory or the
    link has been changed again since.
    """
    owed: dict[UUID, list[Operation]] = {}
    own = {seen.memory_id for seen in decided.memories}
    with transaction.atomic():
        for seen in decided.memories:
            memory = find_seen(by=by, seen=seen)
            owed.setdefault(memory.end_user_id, []).extend(_back(by, memory, own))
        if decided.link_id is not None:
            link = _settled(by, decided.link_id)
            owed.setdefault(link.end_user_id, []).append(_reopened(link))
        for end_user_id, operations in owed.items():
            apply_decision(by=by, end_user_id=end_user_id, operations=operations)
    return ReviewDecision(memories=tuple(seen.next() for seen in decided.memories))


def _back(by: Reviewer, memory: Memory, own: Collection[UUID]) -> Iterator[Operation]:
    past = MemoryVersion.objects.filter(
        end_user_id=memory.end_user_id, memory=memory, version=memory.version - 1
    ).first()
    if past is None:
        raise NotFound("there is no earlier version")
    if past.actor != actor_of(None, by.person_id):
        raise NotAllowed("somebody else has changed the memory since")
    values = {name: _read(name, value) for name, value in past.values.items()}
    yield from _restored(memory, values, own)
    if "content" in values:
        yield EnqueueWork(kind=WorkKind.INDEX_MEMORY, memory_id=memory.pk)
    yield from _opened_again(memory, past, own)
    if past.operation == MERGED and memory.superseded_by_id is not None:
        yield RemoveCopiedOrigins(memory_id=memory.superseded_by_id, from_id=memory.pk, since=past.known_until)


def _opened_again(memory: Memory, past: MemoryVersion, own: Collection[UUID]) -> Iterator[Operation]:
    """Open the values that the undone change closed in the same moment, as an approval does."""
    closed = Memory.objects.filter(
        end_user_id=memory.end_user_id, superseded_by=memory, status=Status.SUPERSEDED, updated_at=past.known_until
    )
    for each in closed if past.operation != MERGED else ():
        changes = {"status": Status.ACTIVE, "superseded_by_id": None, "valid_until": _known_end(each)}
        yield from _restored(each, changes, own)


def _known_end(closed: Memory) -> datetime | None:
    """Return the end that a memory had before it was closed."""
    past = MemoryVersion.objects.get(end_user_id=closed.end_user_id, memory=closed, version=closed.version - 1)
    return cast("datetime | None", _read("valid_until", past.values["valid_until"]))


def _restored(memory: Memory, changes: dict[str, Any], own: Collection[UUID]) -> Iterator[Operation]:
    """Give values back; what becomes live again meets what has come meanwhile. Raises Conflict for what is known."""
    closing: list[Operation] = []
    changes = beside_others(memory=memory, changes=changes, apart_from=own)
    if changes.get("status") == Status.ACTIVE and memory.status != Status.ACTIVE:
        changes, closing = settle_slot(memory=memory, changes=changes, apart_from=own)
    yield ReviseMemory(memory_id=memory.pk, expected_version=memory.version, verb="undone", changes=changes)
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
