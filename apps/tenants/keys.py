"""API keys: shown once when they are created, stored as prefix and hash."""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from apps.pipeline.core.enums import Scope
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope

_PREFIX_BYTES = 6  # 12 hexadecimal characters identify the key and reveal nothing about its secret
_SECRET_BYTES = 32  # 256 bits
_FORMAT = re.compile(rf"mp_([0-9a-f]{{{2 * _PREFIX_BYTES}}})_[A-Za-z0-9_-]{{43}}")

# SQL condition for a usable key. It uses the database's clock, as leases do.
IS_USABLE = "revoked_at is null and coalesce(expires_at > clock_timestamp(), true)"

# Raw SQL, because every request runs it: the first query took six times as long as a queryset.
_LAST_USE_IS_OLD = "(last_used_at is null or last_used_at < statement_timestamp() - interval '1 minute')"
_USABLE = f"""
select key.id, key.project_id, scopes, hash, {_LAST_USE_IS_OLD}, key.requests_per_minute,
    project.requests_per_minute, project.archived_at is not null
from tenants_apikey key join tenants_project project on project.id = key.project_id
where prefix = %s and {IS_USABLE}
"""  # noqa: S608  (only constants of this module)
_UPDATE_LAST_USE = f"""
update tenants_apikey set last_used_at = statement_timestamp() where id = %s and {_LAST_USE_IS_OLD}
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class KeyText:
    """The text of a new key, and the prefix and hash that are stored."""

    text: str
    prefix: str
    hash: str


@dataclass(frozen=True, slots=True)
class UsableKey:
    """A key that was usable when it was looked up; `is_note_due` if its last recorded use is over a minute ago."""

    id: UUID
    project_id: UUID
    scopes: frozenset[Scope]
    hash: str
    is_note_due: bool
    requests_per_minute: int | None = None
    project_requests_per_minute: int | None = None
    is_of_archived_project: bool = False


def new_key() -> KeyText:
    """Generate a key with a secret of 256 random bits: mp_<prefix>_<secret>."""
    prefix = secrets.token_hex(_PREFIX_BYTES)
    text = f"mp_{prefix}_{secrets.token_urlsafe(_SECRET_BYTES)}"
    return KeyText(text=text, prefix=prefix, hash=hash_of(text))


def hash_of(text: str) -> str:
    """Hash a key (SHA-256, hexadecimal). A random secret of 256 bits needs no slow hash."""
    return hashlib.sha256(text.encode()).hexdigest()


def recognise(text: str) -> UsableKey | None:
    """Return the usable key with this text, or None if it is unknown, wrong, expired or revoked."""
    match = _FORMAT.fullmatch(text)
    if match is None:
        return None
    with system_scope(SystemWork.KEY_LOOKUP), connection.cursor() as cursor:
        cursor.execute(_USABLE, [match.group(1)])
        row = cursor.fetchone()
    if row is None:
        return None
    key_id, project_id, scopes, stored_hash, is_note_due, of_key, of_project, is_archived = row
    if not hmac.compare_digest(stored_hash, hash_of(text)):
        return None
    return UsableKey(
        id=key_id,
        project_id=project_id,
        scopes=frozenset(map(Scope, scopes)),
        hash=stored_hash,
        is_note_due=is_note_due,
        requests_per_minute=of_key,
        project_requests_per_minute=of_project,
        is_of_archived_project=is_archived,
    )


def note_use(key: UsableKey) -> None:
    """Record that a key was used, at most once a minute."""
    if not key.is_note_due:
        return
    with tenant_scope(project_id=key.project_id), connection.cursor() as cursor:
        cursor.execute(_UPDATE_LAST_USE, [key.id])
