"""Redaction of memories, and of their changes, that callers and people write directly."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from apps.pipeline.core.policy import RedactionPolicy
from apps.pipeline.core.statement import Mention, ObjectValue
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.pipeline.redaction.redact import redact, redact_json


def redacted_memory(new: NewMemory, *, policy: RedactionPolicy) -> NewMemory:
    """Return a memory without the sensitive data that the policy masks or drops, in any of its texts."""
    return new.evolve(
        content=redact(new.content, policy=policy).text,
        evidence=redact(new.evidence, policy=policy).text,
        context=redact(new.context, policy=policy).text,
        subject=_redacted_mention(new.subject, policy),
        object=_redacted_object(new.object, policy),
        topic=redact(new.topic, policy=policy).text,
        tags=tuple(redact(tag, policy=policy).text for tag in new.tags),
        metadata=redact_json(new.metadata, policy=policy),
    )


def redacted_changes(changes: Mapping[str, Any], *, policy: RedactionPolicy) -> dict[str, Any]:
    """Return the changes of a memory by field, with each text redacted."""
    return {name: _redacted_value(value, policy) for name, value in changes.items()}


def _redacted_value(value: Any, policy: RedactionPolicy) -> Any:
    if isinstance(value, ObjectValue):
        return _redacted_object(value, policy)
    if isinstance(value, Mapping | list) or type(value) is str:  # enums and times stay as they are
        return redact_json(value, policy=policy)
    return value


def _redacted_object(value: ObjectValue, policy: RedactionPolicy) -> ObjectValue:
    if value.entity is not None:
        return replace(value, entity=_redacted_mention(value.entity, policy))
    literal = None if value.literal is None else redact(value.literal, policy=policy).text
    return replace(value, literal=literal, items=tuple(redact(each, policy=policy).text for each in value.items))


def _redacted_mention(mention: Mention, policy: RedactionPolicy) -> Mention:
    return replace(mention, text=redact(mention.text, policy=policy).text)
