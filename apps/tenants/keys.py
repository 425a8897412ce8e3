"""API keys: made once, shown once, kept as prefix and hash."""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from apps.tenants.models import ApiKey

_PREFIX_BYTES = 6  # 12 hexadecimal characters: enough to be unique, too few to help a guesser
_SECRET_BYTES = 32  # 256 bits
_SHAPE = re.compile(rf"mp_([0-9a-f]{{{2 * _PREFIX_BYTES}}})_[A-Za-z0-9_-]{{43}}")
_NOTE_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class KeyText:
    """A new key as its owner gets to see it, and what is kept of it."""

    text: str
    prefix: str
    hash: str


def new_key() -> KeyText:
    """Make a key of 256 random bits: mp_<prefix>_<secret>."""
    prefix = secrets.token_hex(_PREFIX_BYTES)
    text = f"mp_{prefix}_{secrets.token_urlsafe(_SECRET_BYTES)}"
    return KeyText(text=text, prefix=prefix, hash=hash_of(text))


def hash_of(text: str) -> str:
    """Hash a key (SHA-256, hexadecimal). A random secret of 256 bits needs no slow hash."""
    return hashlib.sha256(text.encode()).hexdigest()


def recognise(text: str) -> ApiKey | None:
    """Return the usable key that a text is, or None: unknown, wrong, expired and revoked look the same."""
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        return None
    key: ApiKey | None = ApiKey.objects.usable().filter(prefix=shape.group(1)).first()
    if key is None or not hmac.compare_digest(key.hash, hash_of(text)):
        return None
    return key


def note_use(key: ApiKey) -> None:
    """Keep when a key was last used, at most once a minute."""
    now = timezone.now()
    if key.last_used_at is not None and key.last_used_at > now - _NOTE_EVERY:
        return
    stale = Q(last_used_at__isnull=True) | Q(last_used_at__lt=now - _NOTE_EVERY)
    ApiKey.objects.filter(stale, pk=key.pk).update(last_used_at=now)
