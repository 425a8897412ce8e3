"""Handling of sensitive data, and data that a project defines itself."""

import re2
from pydantic import Field, field_validator

from apps.pipeline.core.enums import Handling, SensitiveKind
from apps.pipeline.core.policy.section import PolicySection


class CustomRedaction(PolicySection):
    """Data defined by a project: matches of `pattern` (RE2) are masked as [custom:name]."""

    name: str = Field(pattern=r"^[a-z0-9_]{1,40}$")
    pattern: str = Field(min_length=1, max_length=500)

    @field_validator("pattern")
    @classmethod
    def _check_pattern(cls, pattern: str) -> str:
        """Refuse patterns that RE2 can't compile or that match the empty text."""
        options = re2.Options()
        options.log_errors = False
        try:
            compiled = re2.compile(pattern, options)
        except re2.error as refused:
            raise ValueError(f"is not a pattern that RE2 takes: {refused}") from refused
        if compiled.search(""):
            raise ValueError("must not match the empty text")
        return pattern


class RedactionPolicy(PolicySection):
    """Handling of sensitive data before a text is stored or shown to a model (docs/decisions/redaction.md)."""

    secret: Handling = Field(default=Handling.MASK, description="passwords, keys, tokens, codes, account numbers")
    card: Handling = Field(default=Handling.MASK, description="payment card numbers")
    iban: Handling = Handling.MASK
    national_id: Handling = Field(default=Handling.MASK, description="social security, tax and passport numbers")
    phone: Handling = Handling.KEEP
    email: Handling = Handling.KEEP
    items: bool = Field(default=True, description="values of items too; without it they are kept as they are")
    phone_regions: tuple[str, ...] = Field(
        default=("US", "GB", "DE", "FR"), max_length=10, description="whose national phone numbers are recognised"
    )
    custom: tuple[CustomRedaction, ...] = Field(
        default=(), max_length=50, description='JSON: [{"name": …, "pattern": an RE2 expression}]'
    )

    def handling(self, kind: SensitiveKind) -> Handling:
        """Return the handling of a kind; data defined by a project is masked."""
        return Handling.MASK if kind is SensitiveKind.CUSTOM else getattr(self, kind)
