"""Assign memories to a member who is to decide about them."""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from apps.actions.errors import NotFound, Unfit
from apps.actions.get_or_create import hold_end_user
from apps.actions.ledger.record import record
from apps.actions.review.review_decisions import Reviewer
from apps.memories.models import Memory, ReviewAssignment
from apps.pipeline.core.enums import MemberRole
from apps.tenants.models import Membership


def assign_memories(*, by: Reviewer, memory_ids: Sequence[UUID], to: int | None) -> None:
    """Assign memories to a person in place of whom they were assigned to; None assigns them to nobody.

    Others can still decide about them. Raises NotFound for a memory, Unfit for a person who may not review, Conflict
    while an end user is being erased.
    """
    if to is not None and to != by.person_id and not may_review(project_id=by.project_id, person_id=to):
        raise Unfit("this person can't review memories of the project", at="/to")
    memories = Memory.objects.for_project(by.project_id).filter(pk__in=memory_ids)
    owners = dict(memories.values_list("pk", "end_user_id"))
    if len(owners) != len(set(memory_ids)):
        raise NotFound("there is no such memory")
    with transaction.atomic():
        for end_user_id in sorted(set(owners.values())):
            hold_end_user(end_user_id)
        for memory_id, end_user_id in owners.items():
            _assign(by, memory_id, end_user_id, to)


def may_review(*, project_id: UUID, person_id: int) -> bool:
    """Return True if a person is a member who may review."""
    members = Membership.objects.filter(project_id=project_id, user_id=person_id, user__is_active=True)
    return members.exclude(role=MemberRole.VIEWER).exists()


def _assign(by: Reviewer, memory_id: UUID, end_user_id: UUID, to: int | None) -> None:
    rows = ReviewAssignment.objects.filter(end_user_id=end_user_id, memory_id=memory_id)
    if rows.values_list("person_id", flat=True).first() == to:
        return
    rows.delete()
    if to is not None:
        rows.create(end_user_id=end_user_id, memory_id=memory_id, person_id=to, assigned_by=by.actor)
    record(
        project_id=by.project_id,
        end_user_id=end_user_id,
        verb="unassigned" if to is None else "assigned",
        object_kind="memory",
        object_id=memory_id,
        actor=by.actor,
        details={} if to is None else {"person": to},
    )
