"""Sign webhooks as https://www.standardwebhooks.com describes, for which receivers have libraries."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import datetime

_PREFIX = "whsec_"
_BYTES = 32


def new_secret() -> str:
    """Return a new secret to share with the receiver."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_BYTES)).decode()


def signed_headers(*, secrets: Sequence[str], message_id: str, now: datetime, body: bytes) -> dict[str, str]:
    """Return the headers of a webhook, with one signature for each secret: two while a secret is being replaced.

    A signature is an HMAC-SHA256 of id, time and body, joined by dots. The id stays the same when a message is sent
    again; the time, in seconds, lets receivers refuse old messages.
    """
    seconds = str(int(now.timestamp()))
    signed = b".".join([message_id.encode(), seconds.encode(), body])
    return {
        "webhook-id": message_id,
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(_signature(secret, signed) for secret in secrets),
    }


def _signature(secret: str, signed: bytes) -> str:
    digest = hmac.new(base64.b64decode(secret.removeprefix(_PREFIX)), signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"
