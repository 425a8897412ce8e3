"""Convert a planned memory to a row."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from apps.memories.codec import statement_columns
from apps.memories.models import Memory
from apps.memories.writing.write_context import WriteContext
from apps.pipeline.core.enums import Role
from apps.pipeline.core.operations import AddMemory


def memory_row(*, operation: AddMemory, context: WriteContext, review_reasons: Sequence[str], now: datetime) -> Memory:
    """Build the unsaved row of a new memory; its topic is that of the request unless it has its own."""
    candidate = operation.candidate
    return Memory(
        id=operation.memory_id,
        end_user_id=context.end_user_id,
        project_id=context.project_id,
        status=operation.status,
        review_reasons=list(review_reasons),
        metadata=dict(operation.metadata or context.metadata or {}),
        private_to=operation.private_to,
        **asdict(operation.agent_scope),
        created_at=now,
        updated_at=now,
        canonical_hash=operation.canonical_hash,
        said_at=operation.said_at,
        valid_from=operation.valid_from,
        valid_until=operation.valid_until,
        superseded_by_id=operation.superseded_by,
        expires_at=operation.expires_at,
        confidence=operation.confidence.value,
        confidence_parts=operation.confidence.parts(),
        trace_id=context.trace_id,
        candidate_index=candidate.index if context.trace_id else None,
        session_id=context.session_id,
        api_key_id=context.api_key_id,
        role=operation.origins[-1].turn.role if operation.origins else Role.USER,
        context=operation.context,
        **statement_columns(candidate if candidate.topic else candidate.evolve(topic=context.topic)),
    )
