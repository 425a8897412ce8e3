"""API keys: made once, shown once, kept as prefix and hash."""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from apps.pipeline.core.enums import Scope

_PREFIX_BYTES = 6  # 12 hexadecimal characters: enough to be unique, too few to help a guesser
_SECRET_BYTES = 32  # 256 bits
_SHAPE = re.compile(rf"mp_([0-9a-f]{{{2 * _PREFIX_BYTES}}})_[A-Za-z0-9_-]{{43}}")

# What makes a key good, as a part of a statement. The database's clock rules, as it does for leases.
HOLDS = "revoked_at is null and (expires_at is null or expires_at > clock_timestamp())"

# On the path of every request: as a queryset the first took six times as long.
_NOTE_IS_DUE = "(last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')"
_USABLE = f"""
select id, project_id, scopes, hash, {_NOTE_IS_DUE} from tenants_apikey where prefix = %s and {HOLDS}
"""  # noqa: S608  (only constants of this module)
_NOTE = f"""
update tenants_apikey set last_used_at = clock_timestamp() where id = %s and {_NOTE_IS_DUE}
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class KeyText:
    """A new key as its owner gets to see it, and what is kept of it."""

    text: str
    prefix: str
    hash: str


@dataclass(frozen=True, slots=True)
class UsableKey:
    """A key that was good when it was looked up; `is_note_due` when nobody noted its use within a minute."""

    id: UUID
    project_id: UUID
    scopes: frozenset[Scope]
    hash: str
    is_note_due: bool


def new_key() -> KeyText:
    """Make a key of 256 random bits: mp_<prefix>_<secret>."""
    prefix = secrets.token_hex(_PREFIX_BYTES)
    text = f"mp_{prefix}_{secrets.token_urlsafe(_SECRET_BYTES)}"
    return KeyText(text=text, prefix=prefix, hash=hash_of(text))


def hash_of(text: str) -> str:
    """Hash a key (SHA-256, hexadecimal). A random secret of 256 bits needs no slow hash."""
    return hashlib.sha256(text.encode()).hexdigest()


def recognise(text: str) -> UsableKey | None:
    """Return the usable key that a text is, or None: unknown, wrong, expired and revoked look the same."""
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        return None
    with connection.cursor() as cursor:
        cursor.execute(_USABLE, [shape.group(1)])
        row = cursor.fetchone()
    if row is None:
        return None
    key_id, project_id, scopes, kept_hash, is_note_due = row
    if not hmac.compare_digest(kept_hash, hash_of(text)):
        return None
    return UsableKey(
        id=key_id, project_id=project_id, scopes=frozenset(map(Scope, scopes)), hash=kept_hash, is_note_due=is_note_due
    )


def note_use(key: UsableKey) -> None:
    """Keep when a key was last used, at most once a minute."""
    if not key.is_note_due:
        return
    with connection.cursor() as cursor:
        cursor.execute(_NOTE, [key.id])
