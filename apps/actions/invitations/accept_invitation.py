"""Accept an invitation, with an account or a new one."""

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from apps.actions.errors import NotFound, Unfit
from apps.actions.get_or_create import actor_of
from apps.actions.invitations.find_invitation import find_invitation
from apps.actions.ledger.actor import acting_as
from apps.actions.ledger.record import record
from apps.actions.projects.set_member import set_member
from apps.pipeline.core.enums import MemberRole
from apps.tenants.models import Invitation, Membership
from apps.tenants.scope import tenant_scope

_ROLES = tuple(MemberRole)  # each role includes those before it


def accept_invitation(*, token: str, person_id: int) -> Invitation:
    """Make a person a member, once; a role that includes the invited one is kept. Raises NotFound."""
    invitation = find_invitation(token=token)
    with tenant_scope(project_id=invitation.project_id), transaction.atomic():
        _join(invitation, User.objects.get(pk=person_id, is_active=True))
    return invitation


def accept_with_new_account(*, token: str, username: str, password: str) -> tuple[Invitation, User]:
    """Create an account and make it a member, once; the password has been validated.

    Raises NotFound, Unfit for a name that is taken.
    """
    invitation = find_invitation(token=token)
    hashed = make_password(password)  # before any lock is held: it takes long
    with tenant_scope(project_id=invitation.project_id), transaction.atomic():
        try:
            with transaction.atomic():
                person = User.objects.create(username=username, email=invitation.email, password=hashed)
        except IntegrityError as error:
            raise Unfit("this name is taken", at="/username") from error
        _join(invitation, person)
    return invitation, person


def _join(invitation: Invitation, person: User) -> None:
    now, project_id = timezone.now(), invitation.project_id
    if not Invitation.objects.open(now=now).filter(pk=invitation.pk).update(accepted_at=now, accepted_by=person):
        raise NotFound("there is no such invitation")  # somebody else was faster
    with acting_as(actor_of(None, person.pk)):
        details = {"person": person.pk}
        record(
            project_id=project_id,
            verb="invitation_accepted",
            object_kind="invitation",
            object_id=invitation.pk,
            details=details,
        )
        held = Membership.objects.filter(project_id=project_id, user=person).values_list("role", flat=True).first()
        invited = MemberRole(invitation.role)
        if held is None or _ROLES.index(MemberRole(held)) < _ROLES.index(invited):
            set_member(project_id=project_id, username=person.get_username(), role=invited)
