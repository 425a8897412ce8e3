"""Signatures of webhooks: those of the product's alerts are accepted, others are not."""

import base64
import json
from datetime import UTC, datetime

import pytest

from apps.webhooks.messages import signed_headers
from memplatform_client import InvalidSignature, verify_webhook

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
BODY = json.dumps({"alert": "model_silent"}).encode()
SECRET = "whsec_" + base64.b64encode(b"s" * 32).decode()
OTHER_SECRET = "whsec_" + base64.b64encode(b"t" * 32).decode()
HEADERS = signed_headers(secrets=[SECRET], message_id="msg_1", now=NOW, body=BODY)
SIGNATURE = HEADERS["webhook-signature"]


def test_a_webhook_of_the_product_is_accepted() -> None:
    shouted = {name.upper(): value for name, value in HEADERS.items()}
    assert (
        verify_webhook(body=BODY, headers=shouted, secret=SECRET, now=NOW.timestamp() + 299)["alert"] == "model_silent"
    )
    two = HEADERS | {"webhook-signature": f"v1,bm9uZQ== {SIGNATURE}"}
    assert verify_webhook(body=BODY, headers=two, secret=SECRET, now=NOW.timestamp())


@pytest.mark.parametrize(
    ("changed", "body", "secret", "later"),
    [
        ({}, BODY + b" ", SECRET, 0),
        ({}, BODY, OTHER_SECRET, 0),
        ({}, BODY, "whsec_not base64", 0),
        ({}, BODY, SECRET, 301),
        ({}, BODY, SECRET, -301),
        ({"webhook-id": "msg_2"}, BODY, SECRET, 0),
        ({"webhook-timestamp": "soon"}, BODY, SECRET, 0),
        ({"webhook-signature": ""}, BODY, SECRET, 0),
        ({"webhook-signature": "v1,é"}, BODY, SECRET, 0),
    ],
    ids=("body", "secret", "no secret", "old", "ahead", "id", "time", "no signature", "signature"),
)
def test_others_are_refused(changed: dict[str, str], body: bytes, secret: str, later: int) -> None:
    with pytest.raises(InvalidSignature):
        verify_webhook(body=body, headers=HEADERS | changed, secret=secret, now=NOW.timestamp() + later)
