"""Remove a member from a project."""

from uuid import UUID

from django.db import transaction

from apps.actions.errors import NotFound
from apps.actions.ledger.record import record
from apps.actions.projects.set_member import keep_an_admin
from apps.tenants.models import Membership, Project


def remove_member(*, project_id: UUID, membership_id: UUID) -> Membership:
    """Delete a membership, and return it as it was.

    Raises NotFound, Conflict for the last admin.
    """
    with transaction.atomic():
        Project.objects.select_for_update().filter(pk=project_id).first()
        member = Membership.objects.filter(project_id=project_id, pk=membership_id).first()
        if member is None:
            raise NotFound("there is no such member")
        keep_an_admin(project_id=project_id, without=member.user_id)
        Membership.objects.filter(pk=member.pk).delete()
        details = {"person": member.user_id, "role": member.role}
        record(project_id=project_id, verb="member_removed", object_kind="member", object_id=member.pk, details=details)
    return member
