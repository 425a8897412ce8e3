"""What redaction replaces and keeps, and the settings of the policy."""

import pytest
from pydantic import ValidationError

from apps.pipeline.core.enums import Handling
from apps.pipeline.core.placeholders import count_placeholders, names_redacted_secret
from apps.pipeline.core.policy import CustomRedaction, RedactionPolicy
from apps.pipeline.redaction.redact import Redacted, redact, redact_json

DEFAULT = RedactionPolicy()
EVERYTHING = RedactionPolicy(phone=Handling.MASK, email=Handling.MASK)
TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        (f"Use {TOKEN}, please.", "Use [secret:github_token], please."),
        ("AKIAIOSFODNN7EXAMPLE", "[secret:aws_access_key]"),
        ("sk-proj-abcdef1234567890abcdef", "[secret:openai_key]"),
        ("-----BEGIN RSA PRIVATE KEY-----", "[secret:private_key]"),
        ("export API_KEY=abc123def456", "export API_KEY=[secret:api_key]"),
        ("My password is hunter2.", "My password is [secret:password]."),
        ("Das WLAN-Passwort lautet Sonne7Regen.", "Das WLAN-Passwort lautet [secret:password]."),
        ("Mon mot de passe : t0urnesol", "Mon mot de passe : [secret:password]"),
        ("DATABASE_URL=postgres://app:s3cret@db/app", "DATABASE_URL=postgres://app:[secret:url_password]@db/app"),
        ("Pay with 4111 1111 1111 1111 12/27.", "Pay with [card] 12/27."),
        ("IBAN DE89 3704 0044 0532 0130 00 at my bank", "IBAN [iban] at my bank"),
        ("His SSN is 536-22-8745.", "His SSN is [national_id:us_ssn]."),
        ("My card is 30569309025904.", "My card is [card]."),  # no kind takes fewer digits than these
        ("My passport number is A1BC2D3E4.", "My passport number is [national_id:passport]."),
        ("Call Lena at +49 30 901820.", "Call Lena at [phone]."),
        ("Write to lena@example.org about it.", "Write to [email] about it."),
        ("Größe 5, Passwort: Übung77x", "Größe 5, Passwort: [secret:password]"),
    ],
)
def test_sensitive_data_becomes_a_placeholder(text: str, redacted: str) -> None:
    once = redact(text, policy=EVERYTHING).text

    assert once == redacted
    assert redact(once, policy=EVERYTHING) == Redacted(redacted)


@pytest.mark.parametrize("text", ["Call Lena at +49 30 901820.", "Write to lena@example.org about it."])
def test_contacts_are_kept_by_default(text: str) -> None:
    assert redact(text, policy=DEFAULT) == Redacted(text)


def test_what_is_kept_by_policy_stays() -> None:
    policy = RedactionPolicy(card=Handling.KEEP)

    assert redact("Card 4111 1111 1111 1111", policy=policy).text == "Card 4111 1111 1111 1111"


def test_what_is_dropped_takes_its_text_along() -> None:
    policy = RedactionPolicy(card=Handling.DROP)

    assert redact("Ana pays with 4111 1111 1111 1111.", policy=policy) == Redacted("[card]", {"card": 1})


def test_a_project_masks_data_of_its_own() -> None:
    policy = RedactionPolicy(custom=(CustomRedaction(name="badge", pattern=r"\bEMP-\d{5}\b"),))

    assert redact("Badge EMP-12345 opens it.", policy=policy).text == "Badge [custom:badge] opens it."


@pytest.mark.parametrize("pattern", ["(", "x*", r"(?=a)b"])
def test_a_pattern_must_be_one_for_re2_and_match_something(pattern: str) -> None:
    with pytest.raises(ValidationError):
        CustomRedaction(name="bad", pattern=pattern)


def test_values_of_json_are_redacted_beside_their_names() -> None:
    metadata = {"password": "sunshine", "notes": ["PIN 4711", 7], "inner": {"url": "https://a:b0b@example.org"}}

    assert redact_json(metadata, policy=DEFAULT) == {
        "password": "[secret:password]",
        "notes": ["PIN [secret:pin]", 7],
        "inner": {"url": "https://a:[secret:url_password]@example.org"},
    }


def test_placeholders_are_counted_by_kind() -> None:
    texts = ["[secret:pin] and [secret:password]", "[card]", "[1] is no placeholder"]

    assert count_placeholders(texts) == {"card": 1, "secret": 2}


def test_a_masked_secret_is_told_from_a_masked_contact() -> None:
    assert names_redacted_secret("User's password is [secret:password].")
    assert not names_redacted_secret("User writes to [email].")
