"""Revoke an invitation."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.actions.errors import NotFound
from apps.actions.ledger.record import record
from apps.tenants.models import Invitation


def revoke_invitation(*, project_id: UUID, invitation_id: UUID) -> None:
    """Make the link of an open invitation worthless. Raises NotFound for one that is not open."""
    now = timezone.now()
    with transaction.atomic():
        opened = Invitation.objects.open(now=now).filter(project_id=project_id, pk=invitation_id)
        if not opened.update(revoked_at=now):
            raise NotFound("there is no such open invitation")
        record(project_id=project_id, verb="invitation_revoked", object_kind="invitation", object_id=invitation_id)
