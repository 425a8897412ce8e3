"""A candidate seen as the memory that it would become, so that old and new are compared as equals."""

from apps.pipeline.core.candidate_facts import candidate_confidence, canonical_hash_of, said_at
from apps.pipeline.core.draft import Candidate, Draft, KnownMemory, Ruling
from apps.pipeline.core.enums import Role, Status
from apps.pipeline.core.operations import AddMemory

FIRST_VERSION = 1  # of a memory that a plan adds; each later operation on it counts one up


def as_memory(*, draft: Draft, ruling: Ruling) -> KnownMemory:
    """Return what the store would know of a ruling's memory once it is added."""
    candidate = ruling.candidate
    said = said_at(draft, candidate)
    return KnownMemory(
        id=ruling.memory_id,
        version=FIRST_VERSION,
        type=candidate.type,
        status=Status.PENDING_REVIEW if ruling.needs_review else Status.ACTIVE,
        subject_id=candidate.subject.entity_id,
        predicate=candidate.predicate,
        object_text=candidate.object.text,
        content=candidate.content,
        canonical_hash=canonical_hash_of(draft, ruling),
        polarity=candidate.polarity,
        stateful=candidate.stateful,
        confidence=candidate_confidence(draft, candidate).value,
        role=role_of(draft=draft, candidate=candidate),
        said_at=said,
        valid_from=said,
        event_at=candidate.event_at,
        source_confidence=candidate.source_confidence,
        grounding=candidate.grounding,
        speech_act=candidate.speech_act,
        reliability=candidate.reliability,
        adjustment=candidate.adjustment,
        evidence=candidate.evidence,
    )


def as_stored(operation: AddMemory) -> KnownMemory:
    """Return what the store knows of a memory once its operation is applied, but for its origins."""
    candidate = operation.candidate
    return KnownMemory(
        id=operation.memory_id,
        version=FIRST_VERSION,
        type=candidate.type,
        status=operation.status,
        subject_id=candidate.subject.entity_id,
        predicate=candidate.predicate,
        object_text=candidate.object.text,
        content=candidate.content,
        canonical_hash=operation.canonical_hash,
        polarity=candidate.polarity,
        stateful=candidate.stateful,
        confidence=operation.confidence.value,
        role=operation.origins[-1].turn.role if operation.origins else Role.USER,
        said_at=operation.said_at,
        valid_from=operation.valid_from,
        valid_until=operation.valid_until,
        event_at=candidate.event_at,
        source_confidence=candidate.source_confidence,
        grounding=candidate.grounding,
        speech_act=candidate.speech_act,
        reliability=candidate.reliability,
        adjustment=candidate.adjustment,
        evidence=candidate.evidence,
    )


def role_of(*, draft: Draft, candidate: Candidate) -> Role:
    """Return the least trusted role among a candidate's source turns."""
    roles = {turn.role for turn in draft.request.turns if turn.id in candidate.source_turn_ids}
    return min(roles, key=lambda role: draft.policy.conflict.trust[role])
