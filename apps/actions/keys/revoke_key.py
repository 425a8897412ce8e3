"""Revoke an API key."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.actions.errors import NotFound
from apps.actions.ledger.record import record
from apps.tenants.models import ApiKey


def revoke_key(*, project_id: UUID, key_id: UUID) -> None:
    """Revoke a key of a project at once; revoking it again changes nothing.

    Raises NotFound.
    """
    keys = ApiKey.objects.filter(project_id=project_id, pk=key_id)
    if not keys.exists():
        raise NotFound("there is no such key")
    with transaction.atomic():
        if keys.filter(revoked_at__isnull=True).update(revoked_at=timezone.now()):
            record(project_id=project_id, verb="key_revoked", object_kind="api_key", object_id=key_id)
