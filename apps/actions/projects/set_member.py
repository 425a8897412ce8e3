"""Give a person a role in a project."""

from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import transaction

from apps.actions.errors import Conflict, NotFound, Unfit
from apps.pipeline.core.enums import MemberRole
from apps.tenants.models import Membership, Project


def set_member(*, project_id: UUID, username: str, role: MemberRole) -> Membership:
    """Make a person a member, or change the role of one.

    Raises Unfit for a name that nobody has, Conflict for the last admin's own demotion, NotFound.
    """
    person = get_user_model().objects.filter(username=username.strip(), is_active=True).first()
    if person is None:
        raise Unfit("nobody has this name", at="/username")
    with transaction.atomic():
        if not Project.objects.select_for_update().filter(pk=project_id).exists():
            raise NotFound("there is no such project")
        if role is not MemberRole.ADMIN:
            keep_an_admin(project_id=project_id, without=person.pk)
        member, _ = Membership.objects.update_or_create(
            project_id=project_id, user=person, defaults={"role": role.value}
        )
    return member


def keep_an_admin(*, project_id: UUID, without: int) -> None:
    """Raise Conflict when a person is the only admin of a project."""
    admins = list(
        Membership.objects.filter(project_id=project_id, role=MemberRole.ADMIN).values_list("user_id", flat=True)[:2]
    )
    if admins == [without]:
        raise Conflict("a project keeps at least one admin")
