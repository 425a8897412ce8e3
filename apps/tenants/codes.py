"""Signed tokens of invitations, and one-time codes."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

import pyotp
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


STEP_SECONDS = 30
STEPS_OFF = 1  # before and after the current one, for clocks that differ and codes that were typed slowly
RECOVERY_CODES = 10
_RECOVERY_BYTES = 10  # 80 bits: too many to try, so a plain hash is enough
ISSUER = "memplatform"


def new_secret() -> str:
    """Return a secret of 160 bits in base 32, as RFC 4226 recommends."""
    return pyotp.random_base32()


def setup_uri(*, secret: str, name: str) -> str:
    """Return the otpauth URI that authenticator apps read from a QR code."""
    return pyotp.TOTP(secret, interval=STEP_SECONDS).provisioning_uri(name=name, issuer_name=ISSUER)


def matching_step(*, secret: str, code: str, moment: datetime) -> int | None:
    """Return the number of the time step whose code this is, or None for a wrong or outdated one (RFC 6238)."""
    digits = code.replace(" ", "")
    if not secret or not (digits.isascii() and digits.isdigit()):
        return None
    totp = pyotp.TOTP(secret, interval=STEP_SECONDS)
    for off in range(-STEPS_OFF, STEPS_OFF + 1):
        at = moment + timedelta(seconds=off * STEP_SECONDS)
        if pyotp.utils.strings_equal(digits, totp.at(at)):
            return totp.timecode(at)
    return None


def new_recovery_codes() -> list[str]:
    """Return codes such as 0f3a-91bc-77d2-e05a-4c18."""
    texts = (secrets.token_hex(_RECOVERY_BYTES) for _ in range(RECOVERY_CODES))
    return ["-".join(text[start : start + 4] for start in range(0, len(text), 4)) for text in texts]


def hash_of(recovery_code: str) -> str:
    """Return the hash that is stored; case, spaces and dashes don't matter."""
    plain = "".join(character for character in recovery_code.casefold() if character.isalnum())
    return hashlib.sha256(plain.encode()).hexdigest()
