"""Signed tokens of invitations."""

import hashlib
import secrets
from dataclasses import dataclass

from django.core import signing

_SECRET_BYTES = 32  # 256 bits
_SIGNER = "invitation"


@dataclass(frozen=True, slots=True)
class InvitationToken:
    """The text of a new token, and the hash that is stored (SHA-256, hexadecimal)."""

    text: str
    hash: str


def new_token() -> InvitationToken:
    """Return a new token; its signature lets forged ones be refused without looking them up."""
    text = signing.Signer(salt=_SIGNER, sep=".").sign(secrets.token_urlsafe(_SECRET_BYTES))
    return InvitationToken(text, _hash(text))


def hash_of_token(token: str) -> str | None:
    """Return the hash under which a token is stored; None for one that was not signed here."""
    try:
        signing.Signer(salt=_SIGNER, sep=".").unsign(token)
    except signing.BadSignature:
        return None
    return _hash(token)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
