"""Keys and tokens in the formats that their vendors document (vendor_keys.toml)."""

import math
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import re2

from apps.pipeline.core.enums import SensitiveKind
from apps.pipeline.redaction.finding import PATTERN_BYTES, Finding, values

_RULES = Path(__file__).with_name("vendor_keys.toml")
_REFERENCES = ("$", "<", "{", "*", "%", "[")  # beginnings of references in templates: ${TOKEN}, <password>, ****

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
