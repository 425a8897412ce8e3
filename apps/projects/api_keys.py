"""Create, restore, rotate and revoke API keys."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from apps.common.errors import Conflict, Unfit
from apps.common.rows import get_or_refuse
from apps.memories.ledger.record import record
from apps.pipeline.core.enums import Scope
from apps.tenants.keys import new_key
from apps.tenants.models import ApiKey, Project


@dataclass(frozen=True, slots=True)
class CreatedKey:
    """A new key and its text, which is shown only once."""

    key: ApiKey
    text: str


def create_key(
    *,
    project_id: UUID,
    name: str,
    scopes: Collection[Scope],
    expires_at: datetime | None = None,
    requests_per_minute: int | None = None,
) -> CreatedKey:
    """Create a key of a project; only its prefix and hash are stored.

    Raises Unfit without a name or scope and for an expiry in the past, NotFound for an unknown project.
    """
    if not name.strip() or len(name) > 120:
        raise Unfit("the name must hold 1 to 120 characters", at="/name")
    if not scopes:
        raise Unfit("at least one scope is needed", at="/scopes")
    if expires_at is not None and expires_at <= timezone.now():
        raise Unfit("the expiry must lie in the future", at="/expires_at")
    get_or_refuse(Project.objects.filter(pk=project_id), "project")
    made = new_key()
    with transaction.atomic():
        key = ApiKey.objects.create(
            project_id=project_id,
            name=name.strip(),
            prefix=made.prefix,
            hash=made.hash,
            scopes=[scope.value for scope in Scope if scope in scopes],
            expires_at=expires_at,
            requests_per_minute=requests_per_minute,
        )
        details = {"scopes": key.scopes}
        record("key_created", "api_key", key.id, project_id=project_id, details=details)
        record_trust(key)
    return CreatedKey(key=key, text=made.text)


LONGEST_OVERLAP = timedelta(days=30)


def rotate_key(*, project_id: UUID, key_id: UUID, overlap: timedelta) -> CreatedKey:
    """Create a key with name, scopes, limit and lifetime of another, which stays valid for `overlap` at most.

    Raises Unfit for an overlap that is negative or longer than 30 days, NotFound, Conflict if the key is not valid.
    """
    if not timedelta() <= overlap <= LONGEST_OVERLAP:
        raise Unfit("the former key can stay valid for 0 to 30 days", at="/overlap")
    with transaction.atomic():
        former = get_or_refuse(ApiKey.objects.select_for_update().filter(project_id=project_id, pk=key_id), "key")
        now = timezone.now()
        if not former.is_valid(now):
            raise Conflict("the key was revoked or has expired; make a new one")
        made = create_key(
            project_id=project_id,
            name=former.name,
            scopes=[Scope(scope) for scope in former.scopes],
            # lives from now on as long as the former one was made for
            expires_at=former.expires_at and now + (former.expires_at - former.created_at),
            requests_per_minute=former.requests_per_minute,
        )
        former.expires_at = min(former.expires_at or now + overlap, now + overlap)
        former.save(update_fields=["expires_at"])
        details = {"replaced_by": str(made.key.pk), "overlap_seconds": int(overlap.total_seconds())}
        record("key_rotated", "api_key", key_id, project_id=project_id, details=details)
    return made


def revoke_key(*, project_id: UUID, key_id: UUID) -> None:
    """Revoke a key of a project at once; revoking it again changes nothing.

    Raises NotFound.
    """
    keys = ApiKey.objects.filter(project_id=project_id, pk=key_id)
    get_or_refuse(keys, "key")
    with transaction.atomic():
        if keys.filter(revoked_at__isnull=True).update(revoked_at=timezone.now()):
            record("key_revoked", "api_key", key_id, project_id=project_id)


UNDO_PERIOD = timedelta(minutes=10)  # enough to notice a mistake; a key that leaked stays revoked


def restore_key(*, project_id: UUID, key_id: UUID) -> None:
    """Undo the revocation of a key within ten minutes. Raises NotFound, Conflict if it is too late."""
    keys = ApiKey.objects.filter(project_id=project_id, pk=key_id)
    get_or_refuse(keys, "key")
    restorable = Q(revoked_at__isnull=True) | Q(revoked_at__gt=timezone.now() - UNDO_PERIOD)
    with transaction.atomic():
        if not keys.filter(restorable).update(revoked_at=None):
            raise Conflict("the key was revoked too long ago; make a new one")
        record("key_restored", "api_key", key_id, project_id=project_id)
        record_trust(keys.get())


def record_trust(key: ApiKey) -> None:
    """Add an entry of its own for a key with the scope trust, which admin includes."""
    if not {Scope.TRUST.value, Scope.ADMIN.value}.isdisjoint(key.scopes):
        details = {"scopes": key.scopes}
        record("trust_granted", "api_key", key.pk, project_id=key.project_id, details=details)
