"""Replacement of sensitive data in texts by placeholders, according to a project's policy."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.pipeline.core.enums import Handling, SensitiveKind
from apps.pipeline.core.placeholders import PLACEHOLDER
from apps.pipeline.core.policy import RedactionPolicy
from apps.pipeline.redaction.contacts import find_emails, find_phones
from apps.pipeline.redaction.finding import Finding, pattern
from apps.pipeline.redaction.numbers import find_cards, find_ibans, find_national_ids
from apps.pipeline.redaction.spoken_secrets import find_spoken_secrets
from apps.pipeline.redaction.vendor_keys import find_assigned_secrets, find_vendor_keys

_EVERY_SECRET = RedactionPolicy(phone=Handling.KEEP, email=Handling.KEEP)


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text with placeholders, and the number of replacements of each kind."""

    text: str
    counts: Mapping[str, int] = field(default_factory=dict)


def redact(text: str, *, policy: RedactionPolicy) -> Redacted:
    """Replace what the policy masks; a text with data that the policy drops becomes that placeholder.

    Placeholders stay as they are, so redaction is idempotent.
    """
    found = findings(text, policy=policy) if text else []
    if not found:
        return Redacted(text)
    counts = Counter(each.kind.value for each in found)
    dropped = next((each for each in found if policy.handling(each.kind) is Handling.DROP), None)
    if dropped is not None:
        return Redacted(dropped.placeholder, counts)
    parts, place = [], 0
    for each in found:
        parts += [text[place : each.start], each.placeholder]
        place = each.end
    return Redacted("".join((*parts, text[place:])), counts)


def findings(text: str, *, policy: RedactionPolicy) -> list[Finding]:
    """Return the data to redact, in order and without overlaps, named by the most specific rule."""
    taken = [match.span() for match in PLACEHOLDER.finditer(text)]
    every: list[Finding] = []  # the most specific rules first
    for custom in policy.custom:
        matches = (match.span() for match in pattern(custom.pattern).finditer(text))
        every += [Finding(start, end, SensitiveKind.CUSTOM, custom.name) for start, end in matches if end > start]
    digits = sum(map(str.isdigit, text))
    for kind, least_digits, find in _FINDERS:
        if digits >= least_digits and policy.handling(kind) is not Handling.KEEP:
            every += find(text, policy)
    found: list[Finding] = []
    for each in every:
        if all(each.end <= start or end <= each.start for start, end in taken):
            taken.append((each.start, each.end))
            found.append(each)
    return sorted(found, key=lambda each: each.start)


def redact_json(value: Any, *, policy: RedactionPolicy) -> Any:
    """Return a JSON value with all its texts redacted; keys stay, and can show that their value is a secret."""
    if isinstance(value, str):
        return redact(value, policy=policy).text
    if isinstance(value, list | tuple):
        return [redact_json(each, policy=policy) for each in value]
    if not isinstance(value, Mapping):
        return value
    redacted = {}
    for key, each in value.items():
        redacted[key] = redact_json(each, policy=policy)
        named = f'"{key}": "'
        for found in findings(f'{named}{each}"', policy=policy) if isinstance(each, str) else ():
            if found.start == len(named) and found.end >= len(named) + len(each):
                redacted[key] = found.placeholder
    return redacted


def holds_secret(text: str) -> bool:
    """Return True if a text contains a secret or personal number, rather than only mentioning one."""
    return bool(findings(text, policy=_EVERY_SECRET))


# With the number of digits that a text needs for what they find.
_FINDERS: tuple[tuple[SensitiveKind, int, Callable[[str, RedactionPolicy], Iterator[Finding]]], ...] = (
    (SensitiveKind.SECRET, 0, lambda text, _: find_vendor_keys(text)),
    (SensitiveKind.CARD, 14, lambda text, _: find_cards(text)),
    (SensitiveKind.IBAN, 2, lambda text, _: find_ibans(text)),
    (SensitiveKind.NATIONAL_ID, 4, lambda text, _: find_national_ids(text)),
    (SensitiveKind.SECRET, 0, lambda text, _: find_assigned_secrets(text)),
    (SensitiveKind.SECRET, 0, lambda text, _: find_spoken_secrets(text)),
    (SensitiveKind.EMAIL, 0, lambda text, _: find_emails(text)),
    (SensitiveKind.PHONE, 1, lambda text, policy: find_phones(text, regions=policy.phone_regions)),
)
