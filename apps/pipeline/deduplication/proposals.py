"""Proposals: whether to follow an extractor's proposals about memories that it was shown; refusals have a reason.

A model confuses the ids of memories now and then, and an id that exists but is wrong would close or overwrite a fact.
So a proposal is followed only if the two statements have more in common than their subject.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import BINDING_TAGS, EntityType, Polarity
from apps.pipeline.core.predicates import HEALTH_PREDICATES
from apps.pipeline.core.statement import Candidate, StoredMemory
from apps.pipeline.deduplication.difference_checks import Difference, contradictions, numbers
from apps.pipeline.deduplication.event_periods import may_be_one_time
from apps.pipeline.deduplication.lexical_diff import stems
from apps.pipeline.lexicon.contrast_words import ENDINGS
from apps.pipeline.lexicon.function_words import FRAME, SMALL

_ANIMATE = frozenset({EntityType.PERSON, EntityType.ANIMAL})
_COMMON = stems(" ".join(SMALL | FRAME))  # words that don't make two sentences related
_NAME = re.compile(r"\b[^\W\d_a-zß-ÿ][\w'’]+")  # a word with a capital
MOST_REPLACED = 2
# Of 28 recorded repetitions that a capable reader named, the least share is 0.60; of random pairs of memories of one
# conversation 9 % reach 0.5 (ten recorded conversations, 26 November 2026).
LEAST_SHARE_OF_REPEAT = 0.5
LEAST_COSINE = 0.3  # of a statement and what it replaces in other words: 4 of 67 recorded ones need it


class ProposalRefusal(StrEnum):
    """Why an extractor's proposal is not followed."""

    OTHER_SUBJECT = "other_subject"  # it is about somebody or something else
    OTHER_POLARITY = "other_polarity"  # one affirms what the other denies
    OTHER_VALUES = "other_values"  # the sentences differ in a number or in the person
    STILL_TRUE = "still_true"  # the known memory denies one named thing, and the new statement is about another one
    UNRELATED = "unrelated"  # the sentences have nothing in common but their subject
    TOO_MANY = "too_many"  # one statement replaces at most MOST_REPLACED others
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
    candidate: Candidate,
    *,
    named: Mapping[UUID, StoredMemory],
    animate: Collection[UUID],
    cosines: Mapping[UUID, float],
) -> Iterator[RefusedProposal]:
    """Yield the proposals of an extractor that are not followed.

    `named` are the live memories among those it names, `cosines` the similarity of their sentences to the candidate's.
    """
    if candidate.same_as is not None:
        known = named.get(candidate.same_as)
        refusal = ProposalRefusal.NOT_LIVE if known is None else refusal_of_merge(candidate, known)
        if refusal is not None:
            yield RefusedProposal("same_as", candidate.same_as, refusal)
    for key, ids in (("replaces", candidate.replaces), ("contradicts", candidate.contradicts)):
        for number, memory_id in enumerate(ids, start=1):
            refusal = _refusal(candidate, named.get(memory_id), animate=animate, cosine=cosines.get(memory_id, 0.0))
            if refusal is None and key == "replaces" and number > MOST_REPLACED:
                refusal = ProposalRefusal.TOO_MANY
            if refusal is not None:
                yield RefusedProposal(key, memory_id, refusal)


def _refusal(
    candidate: Candidate, known: StoredMemory | None, *, animate: Collection[UUID], cosine: float
) -> ProposalRefusal | None:
    if known is None:
        return ProposalRefusal.NOT_LIVE
    if refusal := refusal_of_replacement(candidate, known, animate=animate):
        return refusal
    return None if are_related(candidate, known, cosine=cosine) else ProposalRefusal.UNRELATED


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
    if stays_true(known, candidate):
        return ProposalRefusal.STILL_TRUE
    if share_subject(candidate, known):
        return None
    are_two_people = candidate.subject_id in animate and known.subject_id in animate
    shares_word = bool(_content_words(candidate.content) & _content_words(known.content))
    return None if shares_word and not are_two_people else ProposalRefusal.OTHER_SUBJECT


def are_related(candidate: Candidate, known: StoredMemory, *, cosine: float) -> bool:
    """Return True if two statements share their predicate, their object or a word beside names, or mean alike.

    What must never be lost by a mistake, health and rules for agents, has to share its predicate or its object.
    """
    if candidate.predicate == known.predicate:
        return True
    value = _content_words(known.object_text)
    if value and value <= _content_words(f"{candidate.content} {candidate.evidence}"):
        return True
    is_critical = known.predicate in HEALTH_PREDICATES or not BINDING_TAGS.isdisjoint(known.tags)
    return not is_critical and (cosine >= LEAST_COSINE or bool(_topic_words(candidate) & _topic_words(known)))


def _topic_words(statement: Candidate | StoredMemory) -> frozenset[str]:
    """Return the stems of the words of a statement and its predicate, without names."""
    words = f"{statement.content} {statement.predicate.replace('_', ' ')}"
    return _content_words(words) - stems(" ".join(_NAME.findall(statement.content)))


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


def _content_words(sentence: str) -> frozenset[str]:
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
    if Difference.KINSHIP in contradictions(candidate.content, known.content):
        return ProposalRefusal.OTHER_VALUES
    return None if _may_say_the_same(candidate, known) else ProposalRefusal.UNRELATED


def _may_say_the_same(candidate: Candidate, known: StoredMemory) -> bool:
    """Return True if the shorter of two sentences has at least half of its words in the other one, apart from names."""
    mine, theirs = _topic_words(candidate), _topic_words(known)
    shorter = min(len(mine), len(theirs))
    return shorter == 0 or len(mine & theirs) >= LEAST_SHARE_OF_REPEAT * shorter


def share_subject(candidate: Candidate, known: StoredMemory) -> bool:
    """Return True if the subject of one statement occurs in the other one; unresolved subjects share nothing."""
    entities = {candidate.subject_id, _object_id(candidate)} - {None}
    return known.subject_id in entities or _object_id(known) in {candidate.subject_id} - {None}


def _object_id(statement: Candidate | StoredMemory) -> object:
    return statement.object.entity.entity_id if statement.object.entity is not None else None
