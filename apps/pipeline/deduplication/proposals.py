"""Proposals: whether to follow what an extractor says of a memory that it was shown; a refusal carries its reason."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import EntityType, Polarity
from apps.pipeline.core.statement import Candidate, StoredMemory
from apps.pipeline.deduplication.difference_checks import Guard, contradictions, numbers
from apps.pipeline.deduplication.event_periods import may_be_one_time
from apps.pipeline.deduplication.lexical_diff import stems
from apps.pipeline.lexicon.contrast_words import ENDINGS
from apps.pipeline.lexicon.function_words import FRAME, SMALL

_ANIMATE = frozenset({EntityType.PERSON, EntityType.ANIMAL})
_COMMON = stems(" ".join(SMALL | FRAME))  # words that relate no two sentences


class ProposalRefusal(StrEnum):
    """Why a proposal of an extractor is not followed."""

    OTHER_SUBJECT = "other_subject"  # it concerns somebody or something else
    OTHER_POLARITY = "other_polarity"  # one affirms what the other denies
    OTHER_VALUES = "other_values"  # the sentences differ in a number or in who is meant
    STILL_TRUE = "still_true"  # it denies or ends one thing, and the new statement is about another one
    NOT_LIVE = "not_live"  # it was closed meanwhile, or became a part of another one


@dataclass(frozen=True, slots=True)
class RefusedProposal:
    """What an extractor says of a memory, and why it is not followed."""

    key: str  # "same_as", "replaces" or "contradicts"
    memory_id: UUID
    reason: ProposalRefusal

    def to_json(self) -> dict[str, str]:
        """Return it as the span shows it."""
        return {"proposal": self.key, "memory": str(self.memory_id), "reason": self.reason.value}


def refused_proposals(
    candidate: Candidate, *, named: Mapping[UUID, StoredMemory], animate: Collection[UUID]
) -> Iterator[RefusedProposal]:
    """Yield what of an extractor's proposals is not followed; `named` are the live memories among those it names."""
    if candidate.same_as is not None:
        known = named.get(candidate.same_as)
        refusal = ProposalRefusal.NOT_LIVE if known is None else refusal_of_merge(candidate, known)
        if refusal is not None:
            yield RefusedProposal("same_as", candidate.same_as, refusal)
    for key, ids in (("replaces", candidate.replaces), ("contradicts", candidate.contradicts)):
        for memory_id in ids:
            if memory_id not in named:
                yield RefusedProposal(key, memory_id, ProposalRefusal.NOT_LIVE)
            elif refusal := refusal_of_replacement(candidate, named[memory_id], animate=animate):
                yield RefusedProposal(key, memory_id, refusal)


def with_repeat_named(candidate: Candidate, *, named: Mapping[UUID, StoredMemory]) -> Candidate:
    """Return a candidate that repeats a memory if it proposes to replace one that says the same word for word."""
    said = canonical_text(candidate.content)
    equal = [each for each in candidate.replaces if each in named and canonical_text(named[each].content) == said]
    if not equal or candidate.same_as is not None:
        return candidate
    return candidate.evolve(same_as=equal[0], replaces=tuple(each for each in candidate.replaces if each != equal[0]))


def may_replace(candidate: Candidate, known: StoredMemory, *, animate: Collection[UUID]) -> bool:
    """Return True if a statement may replace or contradict a memory that an extractor or a judge names."""
    return refusal_of_replacement(candidate, known, animate=animate) is None


def refusal_of_replacement(
    candidate: Candidate, known: StoredMemory, *, animate: Collection[UUID]
) -> ProposalRefusal | None:
    """Return why a statement neither replaces nor contradicts a memory that an extractor or a judge names, or None.

    They concern one entity, or share a telling word without being about two people or animals: "User's car was sold"
    replaces "User drives a car", and what is said of one Lena replaces nothing about another one.
    """
    if stays_true(known, candidate):
        return ProposalRefusal.STILL_TRUE
    if share_subject(candidate, known):
        return None
    are_two_people = candidate.subject_id in animate and known.subject_id in animate
    shares_word = bool(_telling(candidate.content) & _telling(known.content))
    return None if shares_word and not are_two_people else ProposalRefusal.OTHER_SUBJECT


def stays_true(known: StoredMemory, candidate: Candidate) -> bool:
    """Return True if a memory denies or ends one thing and a statement is about another: both hold."""
    return _denies_other_name(known, candidate) or _ended_another_day(known, candidate)


def _denies_other_name(known: StoredMemory, candidate: Candidate) -> bool:
    """Return True if a memory denies one name and a statement affirms another: "not with Acme", and "with Brix"."""
    if (known.polarity, candidate.polarity) != (Polarity.NEGATIVE, Polarity.POSITIVE):
        return False
    denied, affirmed = known.object.entity, candidate.object.entity
    are_names = all(each is not None and each.text[:1].isupper() for each in (denied, affirmed))
    return are_names and _object_id(known) != _object_id(candidate)


def _ended_another_day(known: StoredMemory, candidate: Candidate) -> bool:
    """Return True if an event was cancelled and another day is told: "cancelled on the 3rd", and "on the 10th"."""
    are_dated = all(each.traits.dated and each.event_at is not None for each in (known, candidate))
    return (
        are_dated
        and not may_be_one_time(known, candidate)
        and _tells_end(known.content)
        and not _tells_end(candidate.content)
    )


def _tells_end(sentence: str) -> bool:
    return not ENDINGS.isdisjoint(canonical_text(sentence).split())


def _telling(sentence: str) -> frozenset[str]:
    return stems(sentence) - _COMMON


def animate_entities(draft: Draft) -> frozenset[UUID]:
    """Return the people and animals that a draft knows."""
    return frozenset(each.id for each in (*draft.entities, *draft.new_entities) if each.type in _ANIMATE)


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
