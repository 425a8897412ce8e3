"""EncryptedTextField: a column that is only readable with SECRET_KEY, for secrets that must be used again."""

import base64
from typing import TYPE_CHECKING, Any

import structlog
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.db import models
from django.utils.crypto import salted_hmac

log = structlog.get_logger(__name__)

_SALT = "memplatform.stored-secrets"


if TYPE_CHECKING:  # the stubs' class takes type arguments, Django's does not
    _TextField = models.TextField[str, str]
else:
    _TextField = models.TextField


def encrypt(text: str) -> str:
    """Return a text encrypted under SECRET_KEY (AES-128 in CBC mode with HMAC-SHA256, as Fernet specifies)."""
    return _keys().encrypt(text.encode()).decode() if text else ""


def decrypt(stored: str) -> str:
    """Return the text, or "" if none of SECRET_KEY and SECRET_KEY_FALLBACKS encrypted it."""
    if not stored:
        return ""
    try:
        return _keys().decrypt(stored).decode()
    except InvalidToken:
        log.error("a stored secret can't be read: it was encrypted under another SECRET_KEY")
        return ""


def _keys() -> MultiFernet:
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    digests = [salted_hmac(_SALT, "", secret=each, algorithm="sha256").digest() for each in secrets]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(each)) for each in digests])


class EncryptedTextField(_TextField):
    """A text that is encrypted in the database; it can't be searched for."""

    def get_prep_value(self, value: Any) -> Any:
        """Encrypt a value on its way to the database."""
        return encrypt(str(value)) if value is not None else None

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """Decrypt a value from the database."""
        return decrypt(value) if value is not None else None
