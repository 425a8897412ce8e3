"""Secrets are recognised by their values; a mere mention of passwords, keys and doors is none."""

import pytest

from apps.pipeline.redaction.redact import holds_secret


@pytest.mark.parametrize(
    "text",
    [
        "My password is hunter2.",
        "The wifi password is sunshine, by the way.",
        "The password for the NAS is tulip and it works.",
        "I changed my password to hunter2",
        "Das Passwort lautet Sommer2024",
        "My PIN is 4711",
        "Our door code is 4711.",
        "The code for the gate is 4711#",
        "alarm code: 1234",
        "4711 is the door code.",
        "User's GitHub token is ghp_16C7e42F292c6912E7710c838347Ae178B4a.",
        "export API_KEY=abc123def456",
        "sk-proj-abcdef1234567890abcdef",
        "AKIAIOSFODNN7EXAMPLE",
        "-----BEGIN RSA PRIVATE KEY-----",
        "postgres://app:s3cret@db.internal/app",
        "User's card number is 4111 1111 1111 1111.",
        "IBAN DE89 3704 0044 0532 0130 00",
        "My passport number is X1234567.",
    ],
)
def test_a_secret(text: str) -> None:
    assert holds_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        "Never commit the API key to git.",
        "User uses a password manager.",
        "User's password policy is strict.",
        "My password is too long.",
        "User reset the password on 12 May 2024.",
        "The API key is stored in the vault.",
        "User's access token expires after 3600 seconds.",
        "Access codes rotate every 90 days.",
        "User lives at door 12 in building 4.",
        "The gate opens at 1000.",
        "User's building was built in 1970.",
        "User's passport expires on 2031-05-04.",
        "User has an account with a bank since 2019-05-01.",
        "User counted 1234567890 steps.",
        "User's alarm is at 0630.",
    ],
)
def test_no_secret(text: str) -> None:
    assert not holds_secret(text)
