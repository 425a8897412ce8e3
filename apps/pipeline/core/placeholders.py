"""Placeholders that replace sensitive data in texts: [secret:password], [card]."""

import re
from collections import Counter
from collections.abc import Iterable

from apps.pipeline.core.enums import SensitiveKind

PLACEHOLDER = re.compile(rf"\[({'|'.join(SensitiveKind)})(?::\w{{1,40}})?\]")
_UNSPEAKABLE = frozenset({SensitiveKind.SECRET, SensitiveKind.CARD, SensitiveKind.IBAN, SensitiveKind.NATIONAL_ID})


def placeholder(kind: SensitiveKind, *, name: str = "") -> str:
    """Return the placeholder of a kind of data, with a name if the kind has several."""
    return f"[{kind}:{name}]" if name else f"[{kind}]"


def names_redacted_secret(text: str) -> bool:
    """Return True if a text contains the placeholder of a secret or personal number."""
    return any(match[1] in _UNSPEAKABLE for match in PLACEHOLDER.finditer(text))


def count_placeholders(texts: Iterable[str]) -> dict[str, int]:
    """Count the placeholders in texts by kind."""
    found = [match[1] for text in texts for match in PLACEHOLDER.finditer(text)]
    return dict(sorted(Counter(found).items())) if found else {}
