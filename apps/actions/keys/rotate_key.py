"""Replace an API key by a new one."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.actions.errors import Conflict, NotFound, Unfit
from apps.actions.keys.create_key import CreatedKey, create_key
from apps.actions.ledger.record import record
from apps.pipeline.core.enums import Scope
from apps.tenants.models import ApiKey

LONGEST_OVERLAP = timedelta(days=30)


def rotate_key(*, project_id: UUID, key_id: UUID, overlap: timedelta) -> CreatedKey:
    """Create a key with name, scopes, limit and lifetime of another, which stays valid for `overlap` at most.

    Raises Unfit for an overlap that is negative or longer than 30 days, NotFound, Conflict if the key is not valid.
    """
    if not timedelta() <= overlap <= LONGEST_OVERLAP:
        raise Unfit("the former key can stay valid for 0 to 30 days", at="/overlap")
    with transaction.atomic():
        former = ApiKey.objects.select_for_update().filter(project_id=project_id, pk=key_id).first()
        if former is None:
            raise NotFound("there is no such key")
        now = timezone.now()
        if former.revoked_at is not None or (former.expires_at is not None and former.expires_at <= now):
            raise Conflict("the key was revoked or has expired; make a new one")
        made = create_key(
            project_id=project_id,
            name=former.name,
            scopes=[Scope(scope) for scope in former.scopes],
            expires_at=_as_long_as(former, now),
            requests_per_minute=former.requests_per_minute,
        )
        former.expires_at = min(former.expires_at or now + overlap, now + overlap)
        former.save(update_fields=["expires_at"])
        details = {"replaced_by": str(made.key.pk), "overlap_seconds": int(overlap.total_seconds())}
        record(project_id=project_id, verb="key_rotated", object_kind="api_key", object_id=key_id, details=details)
    return made


def _as_long_as(former: ApiKey, now: datetime) -> datetime | None:
    """Return when a key expires that lives from now on as long as the former one was made for."""
    return None if former.expires_at is None else now + (former.expires_at - former.created_at)
