"""Settle a contradiction: one is kept, both are true, or both say the same."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import transaction

from apps.actions.errors import Conflict, NotFound, Unfit
from apps.actions.memories.merge_memories import merge_operations
from apps.actions.memories.slot_conflicts import settle_slot
from apps.actions.review.review_decisions import (
    ReviewDecision,
    Reviewer,
    SeenVersion,
    apply_decision,
    check_pair,
    find_seen,
)
from apps.memories.models import Memory, MemoryLink
from apps.pipeline.core.enums import LinkKind, LinkResolution, LinkStatus, Status
from apps.pipeline.core.operations import Operation, ReviseMemory, SetLinkStatus


@dataclass(frozen=True, slots=True)
class Validity:
    """From when until when a statement is true; None leaves the beginning as it is, and the end open."""

    begins: datetime | None = None
    ends: datetime | None = None


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a person settles a contradiction, and in which versions both sides were seen."""

    link_id: UUID
    resolution: LinkResolution
    from_seen: SeenVersion
    to_seen: SeenVersion
    validity: Mapping[UUID, Validity] = field(default_factory=dict)  # by memory, where both are true


def settle_link(*, by: Reviewer, settlement: Settlement) -> ReviewDecision:
    """Settle a link in one transaction with what follows for its two memories.

    Who is kept becomes active, who isn't is rejected; with MERGED the newer one is merged into the older one.
    Raises NotFound, Unfit for a time that ends before it begins, and Conflict when somebody was faster.
    """
    link = MemoryLink.objects.for_project(by.project_id).filter(pk=settlement.link_id).first()
    if link is None:
        raise NotFound("there is no such link")
    if link.status != LinkStatus.OPEN:
        raise Conflict("somebody has settled it meanwhile")
    one, other = find_seen(by=by, seen=settlement.from_seen), find_seen(by=by, seen=settlement.to_seen)
    if (one.pk, other.pk) != (link.from_memory_id, link.to_memory_id):
        raise NotFound("the link is one of two other memories")
    check_pair(one, other)
    with transaction.atomic():
        changes = _changes(one, other, settlement)
        apply_decision(by=by, end_user_id=one.end_user_id, operations=[*changes, _mark(link, settlement.resolution)])
    changed = {each.memory_id for each in changes if isinstance(each, ReviseMemory)}
    seen = (settlement.from_seen, settlement.to_seen)
    return ReviewDecision(memories=tuple(each.next() for each in seen if each.memory_id in changed), link_id=link.pk)


def _changes(one: Memory, other: Memory, settlement: Settlement) -> list[Operation]:
    match settlement.resolution:
        case LinkResolution.KEPT_FROM:
            return [*_keep(one, instead_of=other), _reject(other)]
        case LinkResolution.KEPT_TO:
            return [_reject(one), *_keep(other, instead_of=one)]
        case LinkResolution.MERGED:
            return merge_operations(one, other)
        case LinkResolution.BOTH:
            return [*_allow(one, settlement.validity.get(one.pk)), *_allow(other, settlement.validity.get(other.pk))]


def _keep(memory: Memory, *, instead_of: Memory) -> list[Operation]:
    """Make a memory active where it isn't, and close what else holds its slot."""
    if memory.status == Status.ACTIVE:
        return []
    stands: dict[str, object] = {"status": Status.ACTIVE, "review_reasons": []}
    changes, closing = settle_slot(memory=memory, changes=stands, apart_from=[instead_of.pk])
    return [ReviseMemory(memory_id=memory.pk, expected_version=memory.version, verb="kept", changes=changes), *closing]


def _allow(memory: Memory, validity: Validity | None) -> list[Operation]:
    """Let a memory be true beside the other: a person says so, whatever holds its slot."""
    changes: dict[str, object] = {}
    if memory.status != Status.ACTIVE:
        changes |= {"status": Status.ACTIVE, "review_reasons": []}
    if validity is not None:
        begins = validity.begins or memory.valid_from
        if validity.ends is not None and validity.ends < begins:
            raise Unfit(f"“{memory.content}” would end before it begins", at="/valid_until")
        changes |= {"valid_from": begins, "valid_until": validity.ends}
    if all(getattr(memory, name) == value for name, value in changes.items()):
        return []
    return [
        ReviseMemory(memory_id=memory.pk, expected_version=memory.version, verb="kept", changes=changes),
    ]


def _reject(memory: Memory) -> Operation:
    return ReviseMemory(
        memory_id=memory.pk,
        expected_version=memory.version,
        verb="rejected",
        changes={"status": Status.REJECTED},
        note=LinkKind.CONTRADICTS,
    )


def _mark(link: MemoryLink, resolution: LinkResolution) -> SetLinkStatus:
    return SetLinkStatus(
        from_id=link.from_memory_id,
        to_id=link.to_memory_id,
        kind=LinkKind(link.kind),
        expected=LinkStatus.OPEN,
        status=LinkStatus.SETTLED,
        resolution=resolution,
    )
