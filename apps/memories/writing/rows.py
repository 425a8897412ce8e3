"""How a planned memory becomes a row."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from apps.memories.models import Memory
from apps.memories.writing.write_context import WriteContext
from apps.pipeline.core.draft import Candidate, ObjectValue
from apps.pipeline.core.enums import Role
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.operations import AddMemory


def object_value(value: ObjectValue) -> dict[str, Any]:
    """Write the object of a triple as {"literal"}, {"entity"} or {"list"}; nothing is an empty object."""
    if value.entity is not None and value.entity.entity_id is not None:
        return {"entity": show(Prefix.ENTITY, value.entity.entity_id)}
    if value.items:
        return {"list": list(value.items)}
    return {"literal": value.text} if value.text else {}


def memory_row(*, operation: AddMemory, context: WriteContext, review_reasons: Sequence[str], now: datetime) -> Memory:
    """Build the row of a new memory, not saved."""
    return Memory(
        id=operation.memory_id,
        end_user_id=context.end_user_id,
        project_id=context.project_id,
        status=operation.status,
        review_reasons=list(review_reasons),
        topic=operation.candidate.topic or context.topic,
        metadata=dict(operation.metadata or context.metadata or {}),
        created_at=now,
        updated_at=now,
        **_statement(operation.candidate),
        **_standing(operation),
        **_certainty(operation),
        **_provenance(operation, context),
    )


def _statement(candidate: Candidate) -> dict[str, Any]:
    """Return what is said, and when it happened."""
    return {
        "type": candidate.type,
        "subject_id": candidate.subject.entity_id,
        "predicate": candidate.predicate,
        "object": object_value(candidate.object),
        "object_text": candidate.object.text,
        "content": candidate.content,
        "polarity": candidate.polarity,
        "stateful": candidate.stateful,
        "tags": list(candidate.tags),
        "language": candidate.language,
        "event_at": candidate.event_at,
        "event_precision": candidate.event_precision or "",
        "importance": candidate.importance,
    }


def _standing(operation: AddMemory) -> dict[str, Any]:
    """Return since when it holds, until when, and which hash it stands under."""
    return {
        "canonical_hash": operation.canonical_hash,
        "said_at": operation.said_at,
        "valid_from": operation.valid_from,
        "valid_until": operation.valid_until,
        "superseded_by_id": operation.superseded_by,
        "expires_at": operation.expires_at,
    }


def _certainty(operation: AddMemory) -> dict[str, Any]:
    """Return how sure we are, with the parts of the sum."""
    candidate = operation.candidate
    return {
        "confidence": operation.confidence.value,
        "confidence_parts": operation.confidence.parts(),
        "source_confidence": candidate.source_confidence,
        "grounding": candidate.grounding,
        "speech_act": candidate.speech_act,
        "reliability": candidate.reliability,
        "adjustment": candidate.adjustment,
    }


def _provenance(operation: AddMemory, context: WriteContext) -> dict[str, Any]:
    """Return which run wrote it, for whom, and from which words."""
    candidate = operation.candidate
    return {
        "trace_id": context.trace_id,
        "candidate_index": candidate.index if context.trace_id else None,
        "session_id": context.session_id,
        "api_key_id": context.api_key_id,
        "role": operation.origins[-1].turn.role if operation.origins else Role.USER,
        "extractor": candidate.extractor,
        "evidence": candidate.evidence,
        "context": operation.context,
    }
