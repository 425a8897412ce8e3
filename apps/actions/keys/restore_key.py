"""Let a key that was revoked a moment ago be valid again."""

from datetime import timedelta
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from apps.actions.errors import Conflict, NotFound
from apps.tenants.models import ApiKey

REGRET = timedelta(minutes=10)  # a slip is noticed at once; a key that leaked stays revoked


def restore_key(*, project_id: UUID, key_id: UUID) -> None:
    """Take the revocation of a key back, within ten minutes. Raises NotFound, Conflict when it is too late."""
    keys = ApiKey.objects.filter(project_id=project_id, pk=key_id)
    if not keys.exists():
        raise NotFound("there is no such key")
    lately = Q(revoked_at__isnull=True) | Q(revoked_at__gt=timezone.now() - REGRET)
    if not keys.filter(lately).update(revoked_at=None):
        raise Conflict("the key was revoked too long ago; make a new one")
