"""Invite people to projects: create, send, accept and revoke invitations."""

import smtplib
from datetime import timedelta
from uuid import UUID

from django import forms
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from apps.common.errors import NotFound, Refused, Unfit
from apps.common.rows import get_or_refuse
from apps.memories.ledger.actor import acting_as
from apps.memories.ledger.record import record
from apps.projects.services import set_member
from apps.tenants.codes import hash_of_token, new_token
from apps.tenants.enums import MemberRole
from apps.tenants.limits import RateLimit, seconds_to_wait
from apps.tenants.models import Invitation, Membership, Project
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.get_or_create import actor_of

VALID_FOR = timedelta(days=7)
MOST_PER_HOUR = 20  # of a project


def create_invitation(
    *, project_id: UUID, role: MemberRole, invited_by: int, email: str = ""
) -> tuple[Invitation, str]:
    """Create an invitation for 7 days, and return it with its token, which is shown only once.

    It replaces an open one to the same mail address.
    Raises Unfit for an invalid address, Refused after 20 invitations in an hour, NotFound.
    """
    try:
        address = forms.EmailField(max_length=254, required=False).clean(email)
    except ValidationError as error:
        raise Unfit("this is no mail address", at="/email") from error
    if seconds_to_wait(RateLimit(f"invitations:{project_id}", most=MOST_PER_HOUR, seconds=3_600)):
        raise Refused(f"this project has sent its {MOST_PER_HOUR} invitations of this hour")
    token, now = new_token(), timezone.now()
    with transaction.atomic():
        get_or_refuse(Project.objects.select_for_update(no_key=True).filter(pk=project_id), "project")
        if address:
            Invitation.objects.open(now=now).filter(project_id=project_id, email=address).update(revoked_at=now)
        invitation = Invitation.objects.create(
            project_id=project_id,
            role=role.value,
            email=address,
            token_hash=token.hash,
            invited_by_id=invited_by,
            expires_at=now + VALID_FOR,
        )
        details = {"role": role.value, "by_mail": int(bool(address))}
        record("member_invited", "invitation", invitation.pk, project_id=project_id, details=details)
    return invitation, token.text


class MailNotSent(Exception):
    """The mail server has not taken the mail."""


def mail_invitation(*, invitation: Invitation, link: str, inviter: str) -> None:
    """Send the link, without holding a database connection. Raises MailNotSent."""
    name = " ".join(invitation.project.name.split())
    text = (
        f"{' '.join(inviter.split())} invites you to the project {name} of memplatform, as {invitation.role}.\n\n"
        f"{link}\n\n"
        f"The link works once, until {invitation.expires_at:%Y-%m-%d %H:%M} UTC. Whoever has it can use it.\n"
    )
    mail = EmailMessage(f"[{name}] Invitation to memplatform", text, to=[invitation.email])
    if not connection.in_atomic_block:
        connection.close()
    try:
        mail.send()
    except (smtplib.SMTPException, OSError) as error:
        raise MailNotSent(type(error).__name__) from error


def find_invitation(*, token: str) -> Invitation:
    """Return the open invitation of a token, with its project and inviter.

    Raises NotFound alike for one that is unknown, forged, used, revoked or expired, and where whoever has invited is no
    admin of the project any more.
    """
    token_hash = hash_of_token(token)
    if token_hash is None:
        raise NotFound("there is no such invitation")
    opened = Invitation.objects.open(now=timezone.now()).select_related("project", "invited_by")
    with system_scope(SystemWork.INVITATION_LOOKUP):
        invitation = opened.filter(token_hash=token_hash).first()
        if invitation is None:
            raise NotFound("there is no such invitation")
        inviter = invitation.invited_by
        admins = Membership.objects.filter(project=invitation.project, role=MemberRole.ADMIN)
        if not (inviter.is_active and (inviter.is_superuser or admins.filter(user=inviter).exists())):
            raise NotFound("there is no such invitation")
    return invitation


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
        record("invitation_accepted", "invitation", invitation.pk, project_id=project_id, details=details)
        held = Membership.objects.filter(project_id=project_id, user=person).values_list("role", flat=True).first()
        invited = MemberRole(invitation.role)
        if held is None or _ROLES.index(MemberRole(held)) < _ROLES.index(invited):
            set_member(project_id=project_id, username=person.get_username(), role=invited)


def revoke_invitation(*, project_id: UUID, invitation_id: UUID) -> None:
    """Make the link of an open invitation worthless. Raises NotFound for one that is not open."""
    now = timezone.now()
    with transaction.atomic():
        opened = Invitation.objects.open(now=now).filter(project_id=project_id, pk=invitation_id)
        if not opened.update(revoked_at=now):
            raise NotFound("there is no such open invitation")
        record("invitation_revoked", "invitation", invitation_id, project_id=project_id)
