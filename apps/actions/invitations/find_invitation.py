"""Find the invitation that a link belongs to."""

from django.utils import timezone

from apps.actions.errors import NotFound
from apps.pipeline.core.enums import MemberRole
from apps.tenants.invitation_tokens import hash_of_token
from apps.tenants.models import Invitation, Membership
from apps.tenants.system_scope import SystemWork, system_scope


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
        if invitation is None or not _may_invite(invitation):
            raise NotFound("there is no such invitation")
    return invitation


def _may_invite(invitation: Invitation) -> bool:
    inviter = invitation.invited_by
    admins = Membership.objects.filter(project=invitation.project, role=MemberRole.ADMIN)
    return inviter.is_active and (inviter.is_superuser or admins.filter(user=inviter).exists())
