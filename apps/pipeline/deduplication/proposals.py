"""Proposals: whether to follow an extractor's proposals about memories that it was shown; refusals have a reason.

A model confuses the ids of memories now and then, and an id that exists but is wrong would close or overwrite a fact.
So a proposal is followed only if the two statements have more in common than their subject.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import BINDING_TAGS, NOTE, EntityType, Polarity
from apps.pipeline.core.predicates import HEALTH_PREDICATES, IDEMPOTENT
from apps.pipeline.core.statement import Candidate, StoredMemory
from apps.pipeline.deduplication.guard import Difference, content_words, exclusions, tells_end
from apps.pipeline.deduplication.matching import may_be_one_time

_ANIMATE = frozenset({EntityType.PERSON, EntityType.ANIMAL})
MOST_REPLACED = 2
# "Ben, User's boyfriend, …" and "User's boyfriend Ben …"
_TIE = re.compile(r", ([A-Z]\w*'s [a-z][\w-]*),|\b([A-Z]\w*'s [a-z][\w-]*) (?=[A-Z])")


class ProposalRefusal(StrEnum):
    """Why an extractor's proposal is not followed."""

    OTHER_SUBJECT = "other_subject"  # it is about somebody or something else
    OTHER_POLARITY = "other_polarity"  # one affirms what the other denies
    OTHER_VALUES = "other_values"  # the sentences differ in a number
    STILL_TRUE = "still_true"  # the known memory denies one named thing, and the new statement is about another one
    UNRELATED = "unrelated"  # the sentences have too little in common but their subject: a judge or a person decides
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
    draft: Draft, candidate: Candidate, *, named: Mapping[UUID, StoredMemory]
) -> Iterator[RefusedProposal]:
    """Yield the proposals of an extractor that are not followed; `named` are the live memories among those it names."""
    if candidate.same_as is not None:
        known = named.get(candidate.same_as)
        refusal = ProposalRefusal.NOT_LIVE if known is None else refusal_of_merge(candidate, known)
        if refusal is not None:
            yield RefusedProposal("same_as", candidate.same_as, refusal)
    yield from _refused_replacements(draft, candidate, named)
    for memory_id in candidate.contradicts:
        if refusal := _refusal(draft, candidate, named.get(memory_id)):
            yield RefusedProposal("contradicts", memory_id, refusal)


def _refused_replacements(
    draft: Draft, candidate: Candidate, named: Mapping[UUID, StoredMemory]
) -> Iterator[RefusedProposal]:
    """Yield what a candidate does not replace; what only names a tie that is over with another one goes with that."""
    refusals = {memory_id: _refusal(draft, candidate, named.get(memory_id)) for memory_id in candidate.replaces}
    ended = [memory_id for memory_id, refusal in refusals.items() if refusal is None]
    refusals |= dict.fromkeys(ended[MOST_REPLACED:], ProposalRefusal.TOO_MANY)
    for memory_id, refusal in refusals.items():
        goes_along = refusal is ProposalRefusal.UNRELATED and names_tie(
            named[memory_id], [named[each] for each in ended]
        )
        if refusal is not None and not goes_along:
            yield RefusedProposal("replaces", memory_id, refusal)


def _refusal(draft: Draft, candidate: Candidate, known: StoredMemory | None) -> ProposalRefusal | None:
    if known is None:
        return ProposalRefusal.NOT_LIVE
    refusal = refusal_of_replacement(draft, candidate, known)
    return refusal or (None if _are_related(candidate, known) else ProposalRefusal.UNRELATED)


def names_tie(known: StoredMemory, ended: Iterable[StoredMemory]) -> bool:
    """Return True if a memory names in passing a tie that another one states: "Ben, User's boyfriend, is a cook"."""
    about_it = [each for each in ended if known.subject_id in (each.subject_id, object_id(each))]
    named = _ties_in_passing(known.content)
    return any(tie in each.content for each in about_it for tie in named - _ties_in_passing(each.content))


def _ties_in_passing(content: str) -> set[str]:
    return {before or after for before, after in _TIE.findall(content)}


def refusal_of_merge(candidate: Candidate, known: StoredMemory) -> ProposalRefusal | None:
    """Return why a candidate is not the same as a memory although an extractor says so; None if it may be."""
    if not share_subject(candidate, known):
        return ProposalRefusal.OTHER_SUBJECT
    if candidate.polarity is not known.polarity and candidate.predicate == known.predicate:
        return ProposalRefusal.OTHER_POLARITY
    if Difference.NUMBER in exclusions(candidate.content, known.content):
        return ProposalRefusal.OTHER_VALUES
    return None if _share_half_of_words(candidate, known) else ProposalRefusal.UNRELATED


def refusal_of_replacement(draft: Draft, candidate: Candidate, known: StoredMemory) -> ProposalRefusal | None:
    """Return why a statement neither replaces nor contradicts a memory that an extractor or a judge names, or None.

    They must be about one entity, or share a content word. Statements about two people or animals exclude each other
    only where both are about one event, or where one names the other: a birth ends the mother's pregnancy. Where they
    share half of their words, a judge or a person decides: "Rennie is the captain", "Obi is the captain now".
    """
    if stays_true(known, candidate):
        return ProposalRefusal.STILL_TRUE
    if share_subject(candidate, known):
        return None
    words = content_words(candidate.content)
    if not words & content_words(known.content):
        return ProposalRefusal.OTHER_SUBJECT
    animate = {each.id: each.name for each in draft.all_entities if each.type in _ANIMATE}
    if not {candidate.subject_id, known.subject_id} <= animate.keys():
        return None
    is_named = any(words & content_words(name) for key, name in animate.items() if key == known.subject_id)
    if is_named or may_be_one_time(candidate, known):
        return None
    is_alike = _share_half_of_words(candidate, known)
    return ProposalRefusal.UNRELATED if is_alike else ProposalRefusal.OTHER_SUBJECT


def _are_related(candidate: Candidate, known: StoredMemory) -> bool:
    """Return True if two statements share their predicate, their object or half of their content words.

    A predicate with many values, such as "likes" or "takes_medication", relates only values with a common word: two
    doses of one medicine. What must never be lost by a mistake, health and rules for agents, has to share its
    predicate or its object.
    """
    value = content_words(known.object_text)
    is_one_predicate = candidate.predicate != "" and candidate.predicate == known.predicate
    if is_one_predicate and (candidate.predicate not in IDEMPOTENT or value & content_words(candidate.object_text)):
        return True
    if value and value <= content_words(f"{candidate.content} {candidate.evidence}"):
        return True
    if NOTE in known.tags:  # its object is all that was said
        own = content_words(candidate.object.text)
        if own and own <= content_words(known.content):
            return True
    is_critical = known.predicate in HEALTH_PREDICATES or not BINDING_TAGS.isdisjoint(known.tags)
    return not is_critical and _share_half_of_words(candidate, known)


def _share_half_of_words(candidate: Candidate, known: StoredMemory) -> bool:
    """Return True if the shorter of two sentences has half of its words in the other one, apart from names.

    Of 28 recorded repetitions that a capable reader named, the least share is 0.60.
    """
    mine, theirs = _topic_words(candidate), _topic_words(known)
    shared, shorter = len(mine & theirs), min(len(mine), len(theirs))
    return shared > 0 and 2 * shared >= shorter


def _topic_words(statement: Candidate | StoredMemory) -> frozenset[str]:
    """Return the content words of a statement and its predicate, without names."""
    words = f"{statement.content} {statement.predicate.replace('_', ' ')}"
    names = " ".join(word for word in statement.content.split() if word[0].isupper())
    return content_words(words) - content_words(names)


def stays_true(known: StoredMemory, candidate: Candidate) -> bool:
    """Return True if a memory denies or ends one thing and a statement is about another: both hold.

    A memory denies one name and a statement affirms another: "not with Acme", and "with Brix". Or an event was
    cancelled and another day is named: "cancelled on the 3rd", and "on the 10th".
    """
    if (known.polarity, candidate.polarity) == (Polarity.NEGATIVE, Polarity.POSITIVE):
        values = (known.object.entity, candidate.object.entity)
        are_names = all(each is not None and each.text[:1].isupper() for each in values)
        if are_names and object_id(known) != object_id(candidate):
            return True
    are_dated = all(each.traits.dated and each.event_at is not None for each in (known, candidate))
    is_over = tells_end(known.content) and not tells_end(candidate.content)
    return are_dated and is_over and not may_be_one_time(known, candidate)


def share_subject(candidate: Candidate, known: StoredMemory) -> bool:
    """Return True if the subject of one statement occurs in the other one; unresolved subjects share nothing."""
    entities = {candidate.subject_id, object_id(candidate)} - {None}
    return known.subject_id in entities or object_id(known) in {candidate.subject_id} - {None}


def object_id(statement: Candidate | StoredMemory) -> UUID | None:
    """Return the id of the entity that is the object of a statement; None for another object or an unknown entity."""
    return statement.object.entity.entity_id if statement.object.entity is not None else None
