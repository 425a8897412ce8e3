"""Settle a link: one memory is right, the value changed on a day, both are true, or both say the same."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import transaction

from apps.actions.errors import Conflict, NotFound, Unfit
from apps.actions.get_or_create import hold_end_user
from apps.actions.review.review_context import context_to_decide
from apps.actions.review.review_decisions import (
    ReviewDecision,
    Reviewer,
    SeenVersion,
    apply_decision,
    check_pair,
    find_seen,
)
from apps.memories.models import Memory, MemoryLink
from apps.pipeline.core.enums import LinkKind, LinkResolution, LinkStatus
from apps.pipeline.core.operations import ReviseMemory, SetLinkStatus
from apps.pipeline.review.decisions import ReviewContext, Settle, Validity, newer_first, operations_of


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a reviewer settles a link, and the versions of both memories that the reviewer saw."""

    link_id: UUID
    resolution: LinkResolution
    from_seen: SeenVersion
    to_seen: SeenVersion
    validity: Mapping[UUID, Validity] = field(default_factory=dict)  # by memory, if both are true
    changed_on: datetime | None = None  # the end of the older one, with CHANGED; None: the beginning of the newer one


def settle_link(*, by: Reviewer, settlement: Settlement) -> ReviewDecision:
    """Settle a link and change its two memories accordingly, in one transaction.

    The right memory is approved, the other one rejected; MERGED merges the newer into the older one, CHANGED lets it
    supersede the older one. Raises NotFound, Unfit for a validity that ends before it begins, and Conflict.
    """
    link = MemoryLink.objects.for_project(by.project_id).filter(pk=settlement.link_id).first()
    if link is None:
        raise NotFound("there is no such link")
    if link.status != LinkStatus.OPEN:
        raise Conflict("somebody else has settled the link")
    one, other = find_seen(by=by, seen=settlement.from_seen), find_seen(by=by, seen=settlement.to_seen)
    if (one.pk, other.pk) != (link.from_memory_id, link.to_memory_id):
        raise NotFound("the link connects two other memories")
    check_pair(one, other)
    settled = SetLinkStatus(
        from_id=link.from_memory_id,
        to_id=link.to_memory_id,
        kind=LinkKind(link.kind),
        expected=LinkStatus.OPEN,
        status=LinkStatus.SETTLED,
        resolution=settlement.resolution,
    )
    with transaction.atomic():
        hold_end_user(one.end_user_id)
        context = context_to_decide([one, other])
        changes = operations_of(_decision(one, other, settlement, context), context=context)
        apply_decision(by=by, end_user_id=one.end_user_id, operations=[*changes, settled])
    revised = {each.memory_id for each in changes if isinstance(each, ReviseMemory)}
    seen = [each for each in (settlement.from_seen, settlement.to_seen) if each.memory_id in revised]
    return ReviewDecision(memories=tuple(each.next() for each in seen), link_id=link.pk)


def _decision(one: Memory, other: Memory, settlement: Settlement, context: ReviewContext) -> Settle:
    """Check the dates and return the decision. Raises Unfit."""
    for memory in (one, other):
        validity = settlement.validity.get(memory.pk)
        if validity is not None and validity.ends and validity.ends < (validity.begins or memory.valid_from):
            raise Unfit(f"“{memory.content}” would end before it begins", at="/valid_until")
    newer, older = newer_first(context.memories[one.pk], context.memories[other.pk])
    begins = newer.valid_from or newer.said_at
    changed_on = settlement.changed_on or begins
    if changed_on.date() == begins.date():  # the reviewer gives a day without a time
        changed_on = begins
    if settlement.resolution is LinkResolution.CHANGED:
        if changed_on < (older.valid_from or older.said_at):
            raise Unfit(f"“{older.content}” would end before it begins", at="/changed_on")
        if newer.valid_until is not None and newer.valid_until < changed_on:
            raise Unfit(f"“{newer.content}” would end before it begins", at="/changed_on")
    return Settle(
        from_id=one.pk,
        to_id=other.pk,
        resolution=settlement.resolution,
        validity=settlement.validity,
        changed_on=changed_on,
    )
