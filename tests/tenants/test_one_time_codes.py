"""Codes of an authenticator app, as RFC 6238 has them, and recovery codes."""

from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest

from apps.tenants.codes import (
    RECOVERY_CODES,
    hash_of,
    matching_step,
    new_recovery_codes,
    new_secret,
    setup_uri,
)

SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"  # of appendix B of RFC 6238; its codes have eight digits, ours the last six
AT = datetime.fromtimestamp(1_111_111_111, UTC)
STEP = 37_037_037


@pytest.mark.parametrize(
    ("code", "step"),
    [
        ("050471", STEP),
        ("050 471", STEP),
        ("081804", STEP - 1),  # half a minute ago
        ("14050471", None),
        ("005924", None),
        ("50471", None),
        ("٠٥٠٤٧١", None),
        ("", None),
        ("abcdef", None),
    ],
)
def test_which_codes_match(code: str, step: int | None) -> None:
    assert matching_step(secret=SECRET, code=code, moment=AT) == step


def test_an_app_reads_the_secret_from_the_address() -> None:
    secret = new_secret()
    address = urlsplit(setup_uri(secret=secret, name="ana maria"))
    assert (address.scheme, address.netloc, address.path) == ("otpauth", "totp", "/memplatform:ana%20maria")
    assert parse_qs(address.query) == {"secret": [secret], "issuer": ["memplatform"]}
    assert len(secret) == 32


def test_recovery_codes_differ_and_are_compared_by_their_letters() -> None:
    codes = new_recovery_codes()
    assert len({hash_of(code) for code in codes}) == RECOVERY_CODES
    assert hash_of(codes[0]) == hash_of(codes[0].upper().replace("-", " "))
    assert hash_of(codes[0]) not in codes
