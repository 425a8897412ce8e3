"""Redact the items that operations store."""

from collections.abc import Sequence
from dataclasses import replace

from apps.items.operations import ItemOperation, PutItem
from apps.pipeline.core.policy import RedactionPolicy
from apps.pipeline.redaction.redact import redact, redact_json


def redacted(operations: Sequence[ItemOperation], *, policy: RedactionPolicy) -> Sequence[ItemOperation]:
    """Return the operations with redacted values and words, unless the policy leaves items as they are."""
    if not policy.items:
        return operations
    return [_redacted(each, policy) if isinstance(each, PutItem) else each for each in operations]


def _redacted(put: PutItem, policy: RedactionPolicy) -> PutItem:
    """Return what is stored; the words are redacted by themselves, as a caller may give others than the value's."""
    value = redact_json(put.value, policy=policy)
    return replace(put, value=value, words=redact(put.words, policy=policy).text)
