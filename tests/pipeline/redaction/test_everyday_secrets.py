"""What people call a code, pin, password, login or combination is redacted; talk about codes is left alone."""

import tomllib
from pathlib import Path

import pytest

from apps.pipeline.core.policy import RedactionPolicy
from apps.pipeline.redaction.redact import holds_secret, redact

SPOKEN = tomllib.loads(Path(__file__).with_name("spoken_secrets.toml").read_text(encoding="utf-8"))
ROWS = tomllib.loads(Path(__file__).with_name("everyday_secrets.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", ROWS["holds"], ids=lambda row: row["say"])
def test_a_secret_in_everyday_words_is_redacted(row: dict[str, list[str]]) -> None:
    left = redact(str(row["say"]), policy=RedactionPolicy()).text
    assert [each for each in row["secrets"] if each in left] == []


@pytest.mark.parametrize("row", ROWS["none"], ids=lambda row: row["say"])
def test_talk_about_codes_holds_no_secret(row: dict[str, str]) -> None:
    assert not holds_secret(row["say"])


@pytest.mark.parametrize(("say", "secret"), SPOKEN["holds"], ids=lambda each: each)
def test_a_secret_in_a_sentence_is_redacted(say: str, secret: str) -> None:
    assert secret not in redact(say, policy=RedactionPolicy()).text


@pytest.mark.parametrize("say", SPOKEN["none"])
def test_a_sentence_with_other_numbers_holds_no_secret(say: str) -> None:
    assert not holds_secret(say)


def test_what_is_said_beside_a_secret_stays() -> None:
    said = "My password is hunter2xyz, I live in Lyon, and I work as a nurse."
    assert redact(said, policy=RedactionPolicy()).text == said.replace("hunter2xyz", "[secret:password]")
