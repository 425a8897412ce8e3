"""Undo the recent revocation of a key."""

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from apps.actions.errors import Conflict, NotFound
from apps.actions.keys.record_trust import record_trust
from apps.actions.ledger.record import record
from apps.tenants.models import ApiKey

UNDO_PERIOD = timedelta(minutes=10)  # enough to notice a mistake; a key that leaked stays revoked


def restore_key(*, project_id: UUID, key_id: UUID) -> None:
    """Undo the revocation of a key within ten minutes. Raises NotFound, Conflict if it is too late."""
    keys = ApiKey.objects.filter(project_id=project_id, pk=key_id)
    if not keys.exists():
        raise NotFound("there is no such key")
    restorable = Q(revoked_at__isnull=True) | Q(revoked_at__gt=timezone.now() - UNDO_PERIOD)
    with transaction.atomic():
        if not keys.filter(restorable).update(revoked_at=None):
            raise Conflict("the key was revoked too long ago; make a new one")
        record(project_id=project_id, verb="key_restored", object_kind="api_key", object_id=key_id)
        record_trust(keys.get())
