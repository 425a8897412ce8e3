"""Check the signatures of webhooks (https://www.standardwebhooks.com)."""

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

from memplatform_client.errors import MemplatformError

_SECRET_PREFIX = "whsec_"
TOLERANCE_SECONDS = 300.0


class InvalidSignature(MemplatformError):
    """The webhook was not sent by the server that knows the secret, or is too old."""


def verify_webhook(
    *,
    body: bytes,
    headers: Mapping[str, str],
    secret: str,
    tolerance_seconds: float = TOLERANCE_SECONDS,
    now: float | None = None,
) -> Any:
    """Return the JSON of a webhook whose signature is right. Raises InvalidSignature.

    `now` is in seconds since 1970, by default the present. A message may arrive twice: `webhook-id` stays the same.
    """
    given = {name.lower(): value for name, value in headers.items()}
    message_id, sent = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    if not sent.isdecimal() or abs((time.time() if now is None else now) - int(sent)) > tolerance_seconds:
        raise InvalidSignature("the webhook is too old, too new, or has no time")
    expected = _signature(secret, b".".join([message_id.encode(), sent.encode(), body]))
    signatures = [each.removeprefix("v1,") for each in given.get("webhook-signature", "").split()]
    if not any(hmac.compare_digest(expected, each.encode()) for each in signatures):
        raise InvalidSignature("the signature is not that of the webhook")
    return json.loads(body)


def _signature(secret: str, signed: bytes) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(_SECRET_PREFIX), validate=True)
    except binascii.Error as error:
        raise InvalidSignature("the secret is not one of memplatform") from error
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
