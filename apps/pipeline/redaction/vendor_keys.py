"""Keys and tokens in the formats that their vendors document (vendor_keys.toml), or that code assigns to a name."""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import re2

from apps.pipeline.core.enums import SensitiveKind
from apps.pipeline.redaction.finding import PATTERN_BYTES, Finding, pattern, values

_RULES = Path(__file__).with_name("vendor_keys.toml")
_REFERENCES = ("$", "<", "{", "*", "%", "[")  # beginnings of references in templates: ${TOKEN}, <password>, ****

# Secrets that code, configuration and logs assign to a name: password=…, "api_key": "…", --token …
_PASSWORD_NAMES = r"passwd|password|passwort|passphrase|kennwort|_pwd|_pass"
_KEY_NAMES = (
    r"secret|api[_\-.]?key|apikey|access[_\-.]?key|private[_\-.]?key|secret[_\-.]?key|signing[_\-.]?key"
    r"|encryption[_\-.]?key|auth[_\-.]?token|access[_\-.]?token|refresh[_\-.]?token|bearer[_\-.]?token|token"
)
_ANY_NAME = rf"(?i){_PASSWORD_NAMES}|pwd|pass|{_KEY_NAMES}"  # in every text with an assignment
_PASSWORD = rf"(?:[\w.\-]{{0,40}}(?:{_PASSWORD_NAMES})|pwd|pass)"
_KEY = rf"[\w.\-]{{0,40}}(?:{_KEY_NAMES})"
_IS = r"""(?P<sign>["']?\s?(?:=>|:=|[:=]|\s)\s?)(?P<quote>["'`]?)(?P<value>[^\s"'`,;]{3,256})"""
_ASSIGNED_PASSWORD = rf"(?i)(?:^|[\s\"'{{(,;?&\[/]|--)(?P<name>{_PASSWORD}){_IS}"
_ASSIGNED_KEY = rf"(?i)(?:^|[\s\"'{{(,;?&\[/]|--)(?P<name>{_KEY}(?:[_\-.]?\w{{0,12}})?){_IS}"
_NEXT_PARAMETER = re.compile(r"&\w+=")
MIN_KEY_LENGTH, MIN_KEY_ENTROPY = 8, 2.75  # minimum for a value of a name such as api_key; words have less, or no digit
# Placeholders for values in code and forms.
NO_LITERALS = frozenset(
    "str string bytes text int integer bool boolean char varchar any none null nil undefined true false required"
    " optional secretstr password token field self input object number default empty yes no env".split()
)


@dataclass(frozen=True, slots=True)
class KeyRule:
    """A format; matches with less entropy, in bits per character, or without a required digit don't count."""

    name: str
    pattern: str
    source: str
    min_entropy: float = 0.0
    needs_digit: bool = False


def find_vendor_keys(text: str) -> Iterator[Finding]:
    """Yield the keys and tokens in a text whose format is known."""
    rules, which = _rules()
    for place in which.Match(text) or ():
        rule = rules[place]
        for _, value, start, end in values(text, rule.pattern):
            has_digit = any(each.isdigit() for each in value)
            if not is_reference(value) and (has_digit or not rule.needs_digit) and entropy(value) >= rule.min_entropy:
                yield Finding(start, end, SensitiveKind.SECRET, rule.name)


def entropy(text: str) -> float:
    """Return the Shannon entropy of a text's characters, in bits per character."""
    total = len(text)
    return -sum(count / total * math.log2(count / total) for count in Counter(text).values())


def is_reference(value: str) -> bool:
    """Return True if a value is the name of a secret in a template, or already masked."""
    return value.startswith(_REFERENCES)


@cache
def _rules() -> tuple[tuple[KeyRule, ...], Any]:
    """Return the rules, and the RE2 set that finds which of them match."""
    rules = tuple(KeyRule(**row) for row in tomllib.loads(_RULES.read_text(encoding="utf-8"))["rule"])
    options = re2.Options()
    options.max_mem = 4 * PATTERN_BYTES
    which = re2.Set.SearchSet(options)
    for rule in rules:
        which.Add(rule.pattern)
    which.Compile()
    return rules, which


def find_assigned_secrets(text: str) -> Iterator[Finding]:
    """Yield the values that are assigned to names of passwords, keys and tokens."""
    if not pattern(_ANY_NAME).search(text):
        return
    for match, value, start, _ in values(text, _ASSIGNED_PASSWORD):
        value = _NEXT_PARAMETER.split(value, maxsplit=1)[0]
        # A literal, not a reference, type, expression, or the next word of a sentence.
        bare = value.rstrip(").,;!?}]")
        if not bare or is_reference(bare) or bare.lower() in NO_LITERALS or "(" in bare:
            continue
        is_assigned = match.group("quote") or "=" in match.group("sign")
        is_code = bare.startswith(("os.", "process.", "env.", "self.", "config.", "settings."))
        if not is_code if is_assigned else _has_letter_and_digit(bare) and "/" not in bare:
            yield Finding(start, start + len(value), SensitiveKind.SECRET, "password")
    for match, value, start, _ in values(text, _ASSIGNED_KEY):
        value = _NEXT_PARAMETER.split(value, maxsplit=1)[0]
        bare, name = value.rstrip(").,;!?}]"), match.group("name").lower()
        if name.endswith(("s", "count", "limit", "id")) or is_reference(bare) or "(" in bare:
            continue
        if len(bare) >= MIN_KEY_LENGTH and _has_letter_and_digit(bare) and entropy(bare) >= MIN_KEY_ENTROPY:
            yield Finding(start, start + len(value), SensitiveKind.SECRET, "api_key")


def _has_letter_and_digit(value: str) -> bool:
    return any(each.isdigit() for each in value) and any(each.isalpha() for each in value)
