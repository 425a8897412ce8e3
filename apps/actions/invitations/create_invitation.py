"""Invite a person to a project."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from apps.actions.errors import NotFound, Refused, Unfit
from apps.actions.ledger.record import record
from apps.pipeline.core.enums import MemberRole
from apps.tenants.invitation_tokens import new_token
from apps.tenants.models import Invitation, Project
from apps.tenants.rate_limits import RateLimit, seconds_to_wait

VALID_FOR = timedelta(days=7)
MOST_PER_HOUR = 20  # of a project


@dataclass(frozen=True, slots=True)
class CreatedInvitation:
    """A new invitation and its token, which is shown only once."""

    invitation: Invitation
    token: str


def create_invitation(*, project_id: UUID, role: MemberRole, invited_by: int, email: str = "") -> CreatedInvitation:
    """Create an invitation for 7 days; it replaces an open one to the same mail address.

    Raises Unfit for an invalid address, Refused after 20 invitations in an hour, NotFound.
    """
    address = _checked_address(email.strip())
    if seconds_to_wait(RateLimit(f"invitations:{project_id}", most=MOST_PER_HOUR, seconds=3_600)):
        raise Refused(f"this project has sent its {MOST_PER_HOUR} invitations of this hour")
    token, now = new_token(), timezone.now()
    with transaction.atomic():
        if not Project.objects.select_for_update(no_key=True).filter(pk=project_id).exists():
            raise NotFound("there is no such project")
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
        record(
            project_id=project_id,
            verb="member_invited",
            object_kind="invitation",
            object_id=invitation.pk,
            details=details,
        )
    return CreatedInvitation(invitation, token.text)


def _checked_address(address: str) -> str:
    if not address:
        return ""
    try:
        validate_email(address)
    except ValidationError as error:
        raise Unfit("this is no mail address", at="/email") from error
    if len(address) > 254:
        raise Unfit("this is no mail address", at="/email")
    return address
