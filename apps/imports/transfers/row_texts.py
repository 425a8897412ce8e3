"""Clean and redact the texts of loaded rows, as those of callers are before they are stored."""

from collections.abc import Mapping
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db.models import CharField, Field

from apps.pipeline.core.input_validation import visible_text
from apps.pipeline.core.policy import RedactionPolicy
from apps.pipeline.redaction.redact import redact_json


def stored_texts(field: "Field[Any, Any]", value: Any, *, policy: RedactionPolicy, redacts: bool = True) -> Any:
    """Return the value of a column without invisible characters, and without what the policy masks or drops.

    A name, that is, a text of limited length, stays on one line and within its length.
    """
    of = field.base_field if isinstance(field, ArrayField) else field
    most = of.max_length if isinstance(of, CharField) else None
    cleaned = _cleaned(value, is_name=most is not None)
    told = redact_json(cleaned, policy=policy) if redacts else cleaned
    if most is None:
        return told
    return [each[:most] for each in told] if isinstance(told, list) else told[:most]


def _cleaned(value: Any, *, is_name: bool) -> Any:
    if isinstance(value, str):
        text = visible_text(value)
        return " ".join(text.split("\n")) if is_name else text
    if isinstance(value, list | tuple):
        return [_cleaned(each, is_name=is_name) for each in value]
    if isinstance(value, Mapping):
        return {visible_text(key): _cleaned(each, is_name=is_name) for key, each in value.items()}
    return value
