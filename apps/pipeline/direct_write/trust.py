"""What a caller may do with memories, and what requires the scope trust.

A caller without it may state facts and describe memories. Its free text is hearsay. It may not confirm anything, raise
a confidence, bind agents by a tag or by an order in words, or change what a user said or a person approved.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.pipeline.core.enums import BINDING_TAGS, SourceConfidence, Status
from apps.pipeline.direct_write.new_memory import EXTRACTOR, NewMemory
from apps.pipeline.direct_write.orders import orders_others

# Fields that describe a memory without changing what it says, how sure it is, or when it holds.
_DESCRIPTIVE = frozenset({"topic", "tags", "importance", "metadata"})
_SURE = frozenset({SourceConfidence.DIRECT, SourceConfidence.CONFIRMED})


def binds_agents(tags: tuple[str, ...] | list[str]) -> bool:
    """Return True if one of a memory's tags binds agents."""
    return not BINDING_TAGS.isdisjoint(tags)


def on_own_word(new: NewMemory, *, extractor: str = EXTRACTOR) -> NewMemory:
    """Return a memory as a caller without trust may store it: not confirmed, and active only if it is confident enough.

    Free text is hearsay, below the user's own words. Its confidence is limited where it is computed.
    """
    source = new.source_confidence
    if source in _SURE:
        fills_slot = new.takes_one_value and bool(new.subject.text and new.object_text)
        source = SourceConfidence.DIRECT if fills_slot else SourceConfidence.INFERRED
    status = None if new.status is Status.ACTIVE else new.status
    return new.evolve(source_confidence=source, status=status, extractor=extractor)


@dataclass(frozen=True, slots=True)
class MemoryFacts:
    """What the rules for revisions need to know about a memory."""

    confidence: float
    tags: tuple[str, ...]
    is_vouched_for: bool


def needs_trust(memory: MemoryFacts, changes: Mapping[str, Any], *, now: datetime) -> str:
    """Return the field of a revision that requires the scope trust, or "" if none does."""
    changes_binding = BINDING_TAGS & set(changes.get("tags", memory.tags)) != BINDING_TAGS & set(memory.tags)
    if changes_binding:
        return "tags"
    if orders_others(changes.get("content", "")):
        return "content"
    if changes.get("confidence", 0.0) > memory.confidence:
        return "confidence"
    if "expires_at" in changes and _is_past(changes["expires_at"], now):
        return "expires_at"
    if memory.is_vouched_for or binds_agents(memory.tags):
        return next((name for name in changes if name not in _DESCRIPTIVE), "")
    return ""


def _is_past(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and moment <= now
