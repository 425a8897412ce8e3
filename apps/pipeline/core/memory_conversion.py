"""Conversion of candidates to the memories that they would become, so that new and known memories can be compared."""

from dataclasses import asdict
from typing import Any

from apps.pipeline.core.candidate_facts import candidate_confidence, canonical_hash_of, ends_at, said_at, starts_at
from apps.pipeline.core.draft import Draft, Ruling
from apps.pipeline.core.enums import Role, Status
from apps.pipeline.core.operations import AddMemory, MergeInto
from apps.pipeline.core.statement import Candidate, Mention, ObjectValue, StoredMemory

FIRST_VERSION = 1  # of a memory that a plan adds; each later operation on it increments the version


def as_memory(*, draft: Draft, ruling: Ruling) -> StoredMemory:
    """Return the stored form of a ruling's memory."""
    candidate = ruling.candidate
    said = said_at(draft, candidate)
    return StoredMemory(
        id=ruling.memory_id,
        version=FIRST_VERSION,
        status=Status.PENDING_REVIEW if ruling.needs_review else Status.ACTIVE,
        canonical_hash=canonical_hash_of(draft, ruling),
        confidence=candidate_confidence(draft, candidate).value,
        role=role_of(draft=draft, candidate=candidate),
        said_at=said,
        valid_from=starts_at(draft, candidate),
        valid_until=ends_at(draft, candidate),
        private_to=draft.private_to,
        **stored_fields(candidate),
    )


def as_stored(operation: AddMemory) -> StoredMemory:
    """Return the stored form of the memory that an operation adds, without its origins."""
    return StoredMemory(
        id=operation.memory_id,
        version=FIRST_VERSION,
        status=operation.status,
        canonical_hash=operation.canonical_hash,
        confidence=operation.confidence.value,
        role=operation.origins[-1].turn.role if operation.origins else Role.USER,
        said_at=operation.said_at,
        valid_from=operation.valid_from,
        valid_until=operation.valid_until,
        confidence_parts=operation.confidence.parts(),
        metadata=operation.metadata,
        private_to=operation.private_to,
        **asdict(operation.agent_scope),
        **stored_fields(operation.candidate),
    )


def merged_fields(operation: MergeInto) -> dict[str, Any]:
    """Return the fields of a stored memory that a merge changes, with their new values."""
    return {
        **operation.changes,
        "confidence": operation.confidence.value,
        "confidence_parts": operation.confidence.parts(),
        "status": operation.status,
    }


def stored_fields(candidate: Candidate) -> dict[str, Any]:
    """Return the fields of a statement in their stored form: entities by identifier."""
    subject = Mention(text="", entity_id=candidate.subject_id)
    return {**candidate.statement_fields(), "subject": subject, "object": _stored_object(candidate.object)}


def _stored_object(value: ObjectValue) -> ObjectValue:
    if value.entity and value.entity.entity_id:
        return ObjectValue(entity=Mention(text=value.text, entity_id=value.entity.entity_id))
    return ObjectValue(items=value.items) if value.items else ObjectValue(literal=value.text or None)


def role_of(*, draft: Draft, candidate: Candidate) -> Role:
    """Return the least trusted role among a candidate's source turns; of a given one, the user's."""
    if candidate.given is not None:
        return Role.USER
    roles = {turn.role for turn in draft.request.turns if turn.id in candidate.source_turn_ids}
    return min(roles, key=lambda role: draft.policy.conflict.trust[role])
