"""API keys with the people who made them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.console.labels import names_of
from apps.memories.models import LedgerEntry
from apps.tenants.models import ApiKey


@dataclass(frozen=True, slots=True)
class ListedKey:
    """A key, who made it according to the ledger ("" if the entry is gone), and whether it can be rotated."""

    key: ApiKey
    owner: str
    is_valid: bool


def listed_keys(keys: Sequence[ApiKey], *, project_id: UUID, now: datetime) -> list[ListedKey]:
    """Return keys with their owners, in at most two statements."""
    # Acts on keys concern no end user; the index of the ledger begins with that column.
    entries = LedgerEntry.objects.filter(
        end_user=None, object_id__in=[key.pk for key in keys], verb="key_created", project_id=project_id
    )
    actors = dict(entries.values_list("object_id", "actor"))
    names = names_of(actors.values())
    return [ListedKey(key, names.get(actors.get(key.pk, ""), ""), _is_valid(key, now)) for key in keys]


def _is_valid(key: ApiKey, now: datetime) -> bool:
    return key.revoked_at is None and (key.expires_at is None or key.expires_at > now)
