"""What a candidate says, and the memory that it would become, so that new and known memories can be compared."""

from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from apps.pipeline.core.agent_scope import MemorySource
from apps.pipeline.core.canonical import canonical_hash, salted_hash
from apps.pipeline.core.confidence import Confidence, confidence_of, with_value
from apps.pipeline.core.draft import Draft, Ruling
from apps.pipeline.core.enums import Role, Status
from apps.pipeline.core.operations import AddMemory, MergeInto, PlannedOrigin
from apps.pipeline.core.statement import Candidate, Mention, ObjectValue, StoredMemory


def said_at(draft: Draft, candidate: Candidate) -> datetime:
    """Return the time that was given, otherwise that of the last of a candidate's source turns."""
    if candidate.given is not None:
        return candidate.given.said_at
    return max(turn.said_at for turn in draft.request.sources_of(candidate))


def starts_at(draft: Draft, candidate: Candidate) -> datetime:
    """Return when a candidate's statement becomes true: its own start, otherwise the time when it was said."""
    return candidate.valid_from or said_at(draft, candidate)


def ends_at(draft: Draft, candidate: Candidate) -> datetime | None:
    """Return when a candidate's statement stops being true; a statement about the past stays true."""
    ends = candidate.valid_until
    is_kept = ends is not None and (candidate.given is not None or ends > said_at(draft, candidate))
    return ends if is_kept else None


def closes_at(draft: Draft, candidate: Candidate, closed: StoredMemory) -> datetime:
    """Return the end of the validity of a known memory that a candidate replaces.

    A fact ends when the new fact starts, or when the event happens that changes it. A plan ends as soon as another
    plan is stated. No memory ends before it began.
    """
    happens = candidate.event_at if candidate.traits.dated and not closed.traits.dated else None
    ends = max(happens or starts_at(draft, candidate), closed.valid_from or closed.said_at)
    return ends if closed.valid_until is None else min(ends, closed.valid_until)


def candidate_confidence(draft: Draft, candidate: Candidate) -> Confidence:
    """Compute the confidence of a candidate that was stated once; a given value is reached by the adjustment.

    A caller without trust can lower the computed value, but not raise it.
    """
    computed = confidence_of(candidate, policy=draft.policy.confidence)
    given = candidate.given
    if given is None or given.confidence is None or (given.confidence > computed.value and not given.is_trusted):
        return computed
    return with_value(computed.parts(), value=given.confidence)


def days_of(draft: Draft, candidate: Candidate, known: StoredMemory) -> set[tuple[str, str]]:
    """Return the distinct sessions and days in which a known memory was stated, including the candidate's."""
    return {origin_key(origin) for origin in origins_of(draft, candidate)} | set(known.origins)


def merged_confidence(draft: Draft, candidate: Candidate, merged: StoredMemory) -> Confidence:
    """Compute the confidence of a known memory that a candidate repeats; the approval of a person stays in the sum.

    A repetition that no turn makes changes nothing.
    """
    if candidate.given is not None:
        return replace(Confidence.from_parts(merged.confidence_parts), value=merged.confidence)
    origins = len(days_of(draft, candidate, merged))
    computed = confidence_of(merged, policy=draft.policy.confidence, origins=origins)
    return Confidence.from_parts({**computed.parts(), "review": merged.confidence_parts.get("review")})


def canonical_hash_of(draft: Draft, ruling: Ruling) -> str:
    """Return the hash of a ruling's memory; it is unique among live memories."""
    candidate = ruling.candidate
    found = canonical_hash(candidate)
    return salted_hash(found, memory_id=ruling.memory_id) if ruling.hash_salted else found


def origins_of(draft: Draft, candidate: Candidate) -> tuple[PlannedOrigin, ...]:
    """Return the turns that state a candidate, each with the quote."""
    origin = draft.request.origin
    return tuple(
        PlannedOrigin(
            turn=turn, session_id=origin.session_id, api_key_id=origin.api_key_id, evidence=candidate.evidence
        )
        for turn in draft.request.sources_of(candidate)
    )


def source_of(draft: Draft, candidate: Candidate) -> MemorySource:
    """Return who tells a candidate."""
    return draft.request.source if candidate.given is None else candidate.given.source


def context_of(draft: Draft, candidate: Candidate) -> str:
    """Return the quoted turn and the turn before it; search gives their words a lower weight."""
    if candidate.given is not None:
        return candidate.given.context
    turns = draft.request.session_turns
    last = max(index for index, turn in enumerate(turns) if turn.id in candidate.source_turn_ids)
    around = turns[max(0, last - 1) : last + 1]
    return "\n".join(turn.content[: draft.policy.extraction.max_turn_characters] for turn in around)


def origin_key(origin: PlannedOrigin) -> tuple[str, str]:
    """Return what makes an origin distinct: its session and day. Repetition on one day of a session proves nothing."""
    return str(origin.session_id), origin.turn.said_at.date().isoformat()


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
    subject, value = Mention(text="", entity_id=candidate.subject_id), candidate.object
    if value.entity and value.entity.entity_id:
        stored = ObjectValue(entity=Mention(text=value.text, entity_id=value.entity.entity_id))
    else:
        stored = ObjectValue(items=value.items) if value.items else ObjectValue(literal=value.text or None)
    return {**candidate.statement_fields(), "subject": subject, "object": stored}


def role_of(*, draft: Draft, candidate: Candidate) -> Role:
    """Return the least trusted role among a candidate's source turns; of a given one, the user's."""
    if candidate.given is not None:
        return Role.USER
    roles = {turn.role for turn in draft.request.sources_of(candidate)}
    return min(roles, key=lambda role: draft.policy.conflict.trust[role])
