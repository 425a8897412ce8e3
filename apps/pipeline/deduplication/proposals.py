"""Proposals: whether to follow an extractor's proposals about memories that it was shown; refusals have a reason."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import EntityType, Polarity
from apps.pipeline.core.statement import Candidate, StoredMemory
from apps.pipeline.deduplication.difference_checks import Guard, contradictions, numbers
from apps.pipeline.deduplication.lexical_diff import stems
from apps.pipeline.lexicon.function_words import FRAME, SMALL

_ANIMATE = frozenset({EntityType.PERSON, EntityType.ANIMAL})
_COMMON = stems(" ".join(SMALL | FRAME))  # words that don't make two sentences related


class ProposalRefusal(StrEnum):
    """Why an extractor's proposal is not followed."""

    OTHER_SUBJECT = "other_subject"  # it is about somebody or something else
    OTHER_POLARITY = "other_polarity"  # one affirms what the other denies
    OTHER_VALUES = "other_values"  # the sentences differ in a number or in the person
    STILL_TRUE = "still_true"  # the known memory denies one named thing, and the new statement is about another one
    NOT_LIVE = "not_live"  # the memory has been closed, or merged into another one


@dataclass(frozen=True, slots=True)
class RefusedProposal:
    """An extractor's proposal about a memory, and why it is not followed."""

    key: str  # "same_as", "replaces" or "contradicts"
    memory_id: UUID
    reason: ProposalRefusal

    def to_json(self) -> dict[str, str]:
        """Return the form that spans contain."""
        return {"proposal": self.key, "memory": str(self.memory_id), "reason": self.reason.value}


def refused_proposals(
    candidate: Candidate, *, named: Mapping[UUID, StoredMemory], animate: Collection[UUID]
) -> Iterator[RefusedProposal]:
    """Yield the proposals of an extractor that are not followed; `named` are the live memories among those it names."""
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
    """Return the candidate as a repeat of a memory if it proposes to replace one with exactly the same words."""
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

    They must be about one entity, or share a content word without being about two people or animals: "User's car was
    sold" replaces "User drives a car", but a statement about one Lena replaces nothing about another Lena.
    """
    if denies_other_name(known, candidate):
        return ProposalRefusal.STILL_TRUE
    if share_subject(candidate, known):
        return None
    are_two_people = candidate.subject_id in animate and known.subject_id in animate
    shares_word = bool(_telling(candidate.content) & _telling(known.content))
    return None if shares_word and not are_two_people else ProposalRefusal.OTHER_SUBJECT


def denies_other_name(known: StoredMemory, candidate: Candidate) -> bool:
    """Return True if a memory denies one name and a statement affirms another: "not with Acme", and "with Brix"."""
    if (known.polarity, candidate.polarity) != (Polarity.NEGATIVE, Polarity.POSITIVE):
        return False
    denied, affirmed = known.object.entity, candidate.object.entity
    are_names = all(each is not None and each.text[:1].isupper() for each in (denied, affirmed))
    return are_names and _object_id(known) != _object_id(candidate)


def _telling(sentence: str) -> frozenset[str]:
    return stems(sentence) - _COMMON


def animate_entities(draft: Draft) -> frozenset[UUID]:
    """Return the people and animals among the entities of a draft."""
    return frozenset(each.id for each in (*draft.entities, *draft.new_entities) if each.type in _ANIMATE)


def refusal_of_merge(candidate: Candidate, known: StoredMemory) -> ProposalRefusal | None:
    """Return why a candidate is not the same as a memory although an extractor says so; None if it may be.

    An extractor reads better than rules do, so only differences that rules are certain about count: numbers, kinship
    and polarity.
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
    """Return True if the subject of one statement occurs in the other one; unresolved subjects share nothing."""
    entities = {candidate.subject_id, _object_id(candidate)} - {None}
    return known.subject_id in entities or _object_id(known) in {candidate.subject_id} - {None}


def _object_id(statement: Candidate | StoredMemory) -> object:
    return statement.object.entity.entity_id if statement.object.entity is not None else None
