"""Set the role of a person in a project."""

from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import transaction

from apps.actions.errors import Conflict, NotFound, Unfit
from apps.actions.ledger.record import record
from apps.pipeline.core.enums import MemberRole
from apps.tenants.models import Membership, Project


def set_member(*, project_id: UUID, username: str, role: MemberRole) -> Membership:
    """Add a person to the members, or change a member's role.

    Raises Unfit for an unknown user name, Conflict for taking the role from the last admin, NotFound.
    """
    person = get_user_model().objects.filter(username=username.strip(), is_active=True).first()
    if person is None:
        raise Unfit("there is no active user of this name", at="/username")
    with transaction.atomic():
        if not Project.objects.select_for_update().filter(pk=project_id).exists():
            raise NotFound("there is no such project")
        if role is not MemberRole.ADMIN:
            keep_an_admin(project_id=project_id, without=person.pk)
        member, _ = Membership.objects.update_or_create(
            project_id=project_id, user=person, defaults={"role": role.value}
        )
        details = {"person": person.pk, "role": role.value}
        record(project_id=project_id, verb="member_set", object_kind="member", object_id=member.pk, details=details)
    return member


def keep_an_admin(*, project_id: UUID, without: int) -> None:
    """Raise Conflict if a person is the only admin of a project."""
    admins = list(
        Membership.objects.filter(project_id=project_id, role=MemberRole.ADMIN).values_list("user_id", flat=True)[:2]
    )
    if admins == [without]:
        raise Conflict("a project keeps at least one admin")
