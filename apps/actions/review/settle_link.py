"""Settle a link: one of the two is kept, it changed on a day, both are true, or both say the same."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import transaction

from apps.actions.errors import Conflict, NotFound, Unfit
from apps.actions.get_or_create import hold_end_user
from apps.actions.review.review_context import review_context
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
from apps.pipeline.direct_write.review import ReviewContext, Settle, Validity, newer_first, operations_of


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a person settles a link, and in which versions both sides were seen."""

    link_id: UUID
    resolution: LinkResolution
    from_seen: SeenVersion
    to_seen: SeenVersion
    validity: Mapping[UUID, Validity] = field(default_factory=dict)  # by memory, where both are true
    changed_on: datetime | None = None  # when the older one ended, with CHANGED; None: when the newer one begins


def settle_link(*, by: Reviewer, settlement: Settlement) -> ReviewDecision:
    """Settle a link in one transaction with what follows for its two memories.

    Who is kept is approved, who isn't is rejected; with MERGED the newer one is merged into the older one, with CHANGED
    the newer one supersedes the older one. Raises NotFound, Unfit for a time that ends before it begins, and Conflict
    when somebody was faster.
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
        hold_end_user(one.end_user_id)
        context = review_context(memories=[one, other])
        decision = _decision(one, other, settlement, context)
        changes = operations_of(decision, context=context)
        apply_decision(by=by, end_user_id=one.end_user_id, operations=[*changes, _mark(link, settlement.resolution)])
    changed = {each.memory_id for each in changes if isinstance(each, ReviseMemory)}
    seen = (settlement.from_seen, settlement.to_seen)
    return ReviewDecision(memories=tuple(each.next() for each in seen if each.memory_id in changed), link_id=link.pk)


def _decision(one: Memory, other: Memory, settlement: Settlement, context: ReviewContext) -> Settle:
    """Return the decision, its dates checked. Raises Unfit."""
    for memory in (one, other):
        validity = settlement.validity.get(memory.pk)
        if validity is not None and validity.ends and validity.ends < (validity.begins or memory.valid_from):
            raise Unfit(f"“{memory.content}” would end before it begins", at="/valid_until")
    newer, older = newer_first(context.memories[one.pk], context.memories[other.pk])
    begins = newer.valid_from or newer.said_at
    changed_on = settlement.changed_on or begins
    if changed_on.date() == begins.date():  # a day is given without its time
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


def _mark(link: MemoryLink, resolution: LinkResolution) -> SetLinkStatus:
    return SetLinkStatus(
        from_id=link.from_memory_id,
        to_id=link.to_memory_id,
        kind=LinkKind(link.kind),
        expected=LinkStatus.OPEN,
        status=LinkStatus.SETTLED,
        resolution=resolution,
    )
