"""What people call a code, pin, password, login or combination is redacted; talk about codes is left alone."""

import tomllib
from pathlib import Path

import pytest

from apps.pipeline.core.policy import RedactionPolicy
from apps.pipeline.redaction.redact import holds_secret, redact

ROWS = tomllib.loads(Path(__file__).with_name("everyday_secrets.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", ROWS["holds"], ids=lambda row: row["say"])
def test_a_secret_in_everyday_words_is_redacted(row: dict[str, list[str]]) -> None:
    left = redact(str(row["say"]), policy=RedactionPolicy()).text
    assert [each for each in row["secrets"] if each in left] == []


@pytest.mark.parametrize("row", ROWS["none"], ids=lambda row: row["say"])
def test_talk_about_codes_holds_no_secret(row: dict[str, str]) -> None:
    assert not holds_secret(row["say"])
