"""Sign webhooks as https://www.standardwebhooks.com describes, for which receivers have libraries."""

import base64
import hashlib
import hmac
import secrets
from datetime import datetime

_PREFIX = "whsec_"
_BYTES = 32


def new_secret() -> str:
    """Return a new secret to share with the receiver."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_BYTES)).decode()


def signed_headers(*, secret: str, message_id: str, now: datetime, body: bytes) -> dict[str, str]:
    """Return the headers of a webhook. The signature is an HMAC-SHA256 of id, time and body, joined by dots.

    The id stays the same when a message is sent again; the time, in seconds, lets receivers refuse old messages.
    """
    seconds = str(int(now.timestamp()))
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    digest = hmac.new(key, b".".join([message_id.encode(), seconds.encode(), body]), hashlib.sha256).digest()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": seconds,
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }
