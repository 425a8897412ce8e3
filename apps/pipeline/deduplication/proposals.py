"""Proposals: whether to follow what an extractor says of a memory that it was shown; a refusal carries its reason."""

from enum import StrEnum

from apps.pipeline.core.statement import Candidate, StoredMemory
from apps.pipeline.deduplication.difference_checks import Guard, contradictions, numbers


class ProposalRefusal(StrEnum):
    """Why a proposal of an extractor is not followed."""

    OTHER_SUBJECT = "other_subject"  # it concerns somebody or something else
    OTHER_POLARITY = "other_polarity"  # one affirms what the other denies
    OTHER_VALUES = "other_values"  # the sentences differ in a number or in who is meant


def refusal_of_merge(candidate: Candidate, known: StoredMemory) -> ProposalRefusal | None:
    """Return why a candidate is not the same as a memory though an extractor says so; None where it may be.

    An extractor reads better than rules, so only differences of which rules are certain refuse: numbers, kinship and
    polarity.
    """
    if not share_subject(candidate, known):
        return ProposalRefusal.OTHER_SUBJECT
    if candidate.polarity is not known.polarity and candidate.predicate == known.predicate:
        return ProposalRefusal.OTHER_POLARITY
    first, second = numbers(candidate.content), numbers(known.content)
    if first and second and not (first <= second or second <= first):
        return ProposalRefusal.OTHER_VALUES
    if Guard.KINSHIP in contradictions(candidate.content, known.content):
        return ProposalRefusal.OTHER_VALUES
    return None


def share_subject(candidate: Candidate, known: StoredMemory) -> bool:
    """Return True if two statements concern one entity, as subject of either; unresolved subjects share nothing."""
    entities = {candidate.subject_id, _object_id(candidate)} - {None}
    return known.subject_id in entities or _object_id(known) in {candidate.subject_id} - {None}


def _object_id(statement: Candidate | StoredMemory) -> object:
    return statement.object.entity.entity_id if statement.object.entity is not None else None
