"""What callers may do, and what requires the scope trust."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.pipeline.core.enums import MemoryType, SourceConfidence, Status
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.pipeline.direct_write.trust import MemoryFacts, needs_trust, on_own_word

NOW = datetime(2026, 3, 1, tzinfo=UTC)
OWN = MemoryFacts(confidence=0.8, tags=("goal",), is_vouched_for=False)
VOUCHED = MemoryFacts(confidence=0.8, tags=("goal",), is_vouched_for=True)
RULE = MemoryFacts(confidence=0.8, tags=("constraint",), is_vouched_for=False)


@pytest.mark.parametrize(
    ("memory", "changes", "field"),
    [
        (OWN, {"content": "Ana lives in Porto."}, ""),
        (OWN, {"confidence": 0.5}, ""),
        (OWN, {"confidence": 0.81}, "confidence"),
        (OWN, {"tags": ["arc"]}, ""),
        (OWN, {"tags": ["constraint"]}, "tags"),
        (OWN, {"tags": ["goal", "convention"]}, "tags"),
        (OWN, {"expires_at": NOW + timedelta(days=1)}, ""),
        (OWN, {"expires_at": None}, ""),
        (OWN, {"expires_at": NOW}, "expires_at"),
        (VOUCHED, {"topic": "home", "importance": 0.9, "metadata": {"a": 1}, "tags": ["arc"]}, ""),
        (VOUCHED, {"content": "Ana lives in Porto."}, "content"),
        (VOUCHED, {"valid_until": NOW}, "valid_until"),
        (VOUCHED, {"confidence": 0.1}, "confidence"),
        (VOUCHED, {"expires_at": NOW + timedelta(days=1)}, "expires_at"),
        (RULE, {"importance": 0.9}, ""),
        (RULE, {"tags": ["goal"]}, "tags"),
        (RULE, {"tags": ["constraint", "goal"]}, ""),
        (RULE, {"content": "Pork is fine."}, "content"),
    ],
)
def test_what_a_revision_takes(memory: MemoryFacts, changes: dict[str, Any], field: str) -> None:
    assert needs_trust(memory, changes, now=NOW) == field


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"source_confidence": SourceConfidence.CONFIRMED}, {"source_confidence": SourceConfidence.DIRECT}),
        ({"source_confidence": SourceConfidence.INFERRED}, {"source_confidence": SourceConfidence.INFERRED}),
        ({"status": Status.ACTIVE}, {"status": None}),
        ({"status": Status.PENDING_REVIEW}, {"status": Status.PENDING_REVIEW}),
    ],
)
def test_what_a_new_memory_keeps(given: dict[str, Any], expected: dict[str, Any]) -> None:
    new = NewMemory(type=MemoryType.FACT, content="Ana lives in Porto.", **given)
    limited = on_own_word(new)
    assert {name: getattr(limited, name) for name in expected} == expected
