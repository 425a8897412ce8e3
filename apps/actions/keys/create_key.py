"""Create an API key."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.actions.errors import NotFound, Unfit
from apps.actions.keys.record_trust import record_trust
from apps.actions.ledger.record import record
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
    if not Project.objects.filter(pk=project_id).exists():
        raise NotFound("there is no such project")
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
        record(project_id=project_id, verb="key_created", object_kind="api_key", object_id=key.id, details=details)
        record_trust(key)
    return CreatedKey(key=key, text=made.text)
