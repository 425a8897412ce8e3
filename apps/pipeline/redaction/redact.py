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
    found: list[Finding] = []
    for each in _all_findings(text, policy):
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
    if isinstance(value, Mapping):
        return {key: _redact_named(key, each, policy) for key, each in value.items()}
    return value


def holds_secret(text: str) -> bool:
    """Return True if a text contains a secret or personal number, rather than only mentioning one."""
    return bool(findings(text, policy=_EVERY_SECRET))


def _all_findings(text: str, policy: RedactionPolicy) -> Iterator[Finding]:
    """Yield the findings of all rules, the most specific rules first."""
    for custom in policy.custom:
        for match in pattern(custom.pattern).finditer(text):
            if match.end() > match.start():
                yield Finding(match.start(), match.end(), SensitiveKind.CUSTOM, custom.name)
    digits = sum(map(str.isdigit, text))
    for kind, least_digits, find in _FINDERS:
        if digits >= least_digits and policy.handling(kind) is not Handling.KEEP:
            yield from find(text, policy)


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


def _redact_named(key: str, value: Any, policy: RedactionPolicy) -> Any:
    """Redact a value of an object; its key can show that it is a secret."""
    if not isinstance(value, str):
        return redact_json(value, policy=policy)
    named = f'"{key}": "'
    for each in findings(f'{named}{value}"', policy=policy):
        if each.start == len(named) and each.end >= len(named) + len(value):
            return each.placeholder
    return redact(value, policy=policy).text
