"""API keys: shown once when they are created, stored as prefix and hash."""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet
from django.db.models.functions import Now

from apps.tenants.models import ApiKey
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope

_PREFIX_BYTES = 6  # 12 hexadecimal characters identify the key and reveal nothing about its secret
_SECRET_BYTES = 32  # 256 bits
_FORMAT = re.compile(rf"mp_([0-9a-f]{{{2 * _PREFIX_BYTES}}})_[A-Za-z0-9_-]{{43}}")

_A_MINUTE = timedelta(minutes=1)
_LAST_USE_IS_OLD = Q(last_used_at__isnull=True) | Q(last_used_at__lt=Now() - _A_MINUTE)


@dataclass(frozen=True, slots=True)
class KeyText:
    """The text of a new key, and the prefix and hash that are stored."""

    text: str
    prefix: str
    hash: str


def new_key() -> KeyText:
    """Generate a key with a secret of 256 random bits: mp_<prefix>_<secret>."""
    prefix = secrets.token_hex(_PREFIX_BYTES)
    text = f"mp_{prefix}_{secrets.token_urlsafe(_SECRET_BYTES)}"
    return KeyText(text=text, prefix=prefix, hash=hash_of(text))


def hash_of(text: str) -> str:
    """Hash a key (SHA-256, hexadecimal). A random secret of 256 bits needs no slow hash."""
    return hashlib.sha256(text.encode()).hexdigest()


def usable_keys() -> QuerySet[ApiKey]:
    """Return the keys that are neither revoked nor expired by the database's clock."""
    return ApiKey.objects.filter(Q(expires_at__isnull=True) | Q(expires_at__gt=Now()), revoked_at__isnull=True)


def recognise(text: str) -> ApiKey | None:
    """Return the usable key with this text and its project, and record its use, at most once a minute.

    None if it is unknown, wrong, expired or revoked.
    """
    match = _FORMAT.fullmatch(text)
    if match is None:
        return None
    is_note_due = ExpressionWrapper(_LAST_USE_IS_OLD, output_field=BooleanField())
    with system_scope(SystemWork.KEY_LOOKUP):
        found = usable_keys().filter(prefix=match.group(1)).select_related("project")
        key = found.annotate(is_note_due=is_note_due).first()
    if key is None or not hmac.compare_digest(key.hash, hash_of(text)):
        return None
    if key.is_note_due:
        with tenant_scope(project_id=key.project_id):
            ApiKey.objects.filter(_LAST_USE_IS_OLD, id=key.id).update(last_used_at=Now())
    return key
