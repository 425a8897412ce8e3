"""Secrets that code, configuration and logs assign to a name: password=…, "api_key": "…", --token …"""

import re
from collections.abc import Iterator

from apps.pipeline.core.enums import SensitiveKind
from apps.pipeline.redaction.finding import Finding, pattern, values
from apps.pipeline.redaction.vendor_keys import NO_LITERALS, entropy, is_reference

_PASSWORD_NAMES = r"passwd|password|passwort|passphrase|kennwort|_pwd|_pass"
_KEY_NAMES = (
    r"secret|api[_\-.]?key|apikey|access[_\-.]?key|private[_\-.]?key|secret[_\-.]?key|signing[_\-.]?key"
    r"|encryption[_\-.]?key|auth[_\-.]?token|access[_\-.]?token|refresh[_\-.]?token|bearer[_\-.]?token|token"
)
_ANY_NAME = (
    rf"(?i){_PASSWORD_NAMES}|pwd|pass|{_KEY_NAMES}"  # in every text with an assignment; a search of a microsecond
)
_PASSWORD = rf"(?:[\w.\-]{{0,40}}(?:{_PASSWORD_NAMES})|pwd|pass)"
_KEY = rf"[\w.\-]{{0,40}}(?:{_KEY_NAMES})"
_IS = r"""(?P<sign>["']?\s?(?:=>|:=|[:=]|\s)\s?)(?P<quote>["'`]?)(?P<value>[^\s"'`,;]{3,256})"""
_ASSIGNED_PASSWORD = rf"(?i)(?:^|[\s\"'{{(,;?&\[/]|--)(?P<name>{_PASSWORD}){_IS}"
_ASSIGNED_KEY = rf"(?i)(?:^|[\s\"'{{(,;?&\[/]|--)(?P<name>{_KEY}(?:[_\-.]?\w{{0,12}})?){_IS}"
_NEXT_PARAMETER = re.compile(r"&\w+=")
MIN_KEY_LENGTH, MIN_KEY_ENTROPY = 8, 2.75  # minimum for a value of a name such as api_key; words have less, or no digit


def find_assigned_secrets(text: str) -> Iterator[Finding]:
    """Yield the values that are assigned to names of passwords, keys and tokens."""
    if not pattern(_ANY_NAME).search(text):
        return
    for match, value, start, _ in values(text, _ASSIGNED_PASSWORD):
        value = _NEXT_PARAMETER.split(value, maxsplit=1)[0]
        if _is_password(value, is_quoted=bool(match.group("quote")), sign=match.group("sign")):
            yield Finding(start, start + len(value), SensitiveKind.SECRET, "password")
    for match, value, start, _ in values(text, _ASSIGNED_KEY):
        value = _NEXT_PARAMETER.split(value, maxsplit=1)[0]
        if not match.group("name").lower().endswith(("s", "count", "limit", "id")) and _is_key_value(value):
            yield Finding(start, start + len(value), SensitiveKind.SECRET, "api_key")


def _is_password(value: str, *, is_quoted: bool, sign: str) -> bool:
    """Return True for a literal: not a reference, type, expression, or the next word of a sentence."""
    bare = value.rstrip(").,;!?}]")
    if not bare or is_reference(bare) or bare.lower() in NO_LITERALS or "(" in bare:
        return False
    if is_quoted or "=" in sign:
        return not bare.startswith(("os.", "process.", "env.", "self.", "config.", "settings."))
    return _has_letter_and_digit(bare) and "/" not in bare


def _is_key_value(value: str) -> bool:
    bare = value.rstrip(").,;!?}]")
    if is_reference(bare) or len(bare) < MIN_KEY_LENGTH or "(" in bare:
        return False
    return _has_letter_and_digit(bare) and entropy(bare) >= MIN_KEY_ENTROPY


def _has_letter_and_digit(value: str) -> bool:
    return any(each.isdigit() for each in value) and any(each.isalpha() for each in value)
