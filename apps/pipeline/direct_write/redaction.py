"""Redaction of memories, and of their changes, that callers and people write directly."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from apps.pipeline.core.policy import RedactionPolicy
from apps.pipeline.core.statement import Mention, ObjectValue
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.pipeline.redaction.redact import redact, redact_json

_TEXTS = ("content", "evidence", "context", "subject", "object", "topic", "tags", "metadata")


def redacted_memory(new: NewMemory, *, policy: RedactionPolicy) -> NewMemory:
    """Return a memory without the sensitive data that the policy masks or drops, in any of its texts."""
    return new.evolve(**redacted_changes({name: getattr(new, name) for name in _TEXTS}, policy=policy))


def redacted_changes(changes: Mapping[str, Any], *, policy: RedactionPolicy) -> dict[str, Any]:
    """Return the changes of a memory by field, with each text redacted."""
    return {name: _redacted(value, policy) for name, value in changes.items()}


def _redacted(value: Any, policy: RedactionPolicy) -> Any:
    if isinstance(value, ObjectValue):
        parts = {name: getattr(value, name) for name in ("literal", "entity", "items")}
        return replace(value, **{name: _redacted(part, policy) for name, part in parts.items()})
    if isinstance(value, Mention):
        return replace(value, text=redact(value.text, policy=policy).text)
    if isinstance(value, tuple):
        return tuple(_redacted(each, policy) for each in value)
    if isinstance(value, Mapping | list) or type(value) is str:  # enums and times stay as they are
        return redact_json(value, policy=policy)
    return value
