"""Link the mentions of a candidate to entities, and learn names and descriptions from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import UUID

from apps.pipeline.core.draft import Draft, KnownEntity
from apps.pipeline.core.enums import EntityType, Polarity, SpeechAct
from apps.pipeline.core.statement import Candidate, Mention
from apps.pipeline.lexicon.retractions import takes_back
from apps.pipeline.resolution.alias_introductions import introduce
from apps.pipeline.resolution.discourse import source_turn
from apps.pipeline.resolution.entity_index import USER, EntityIndex
from apps.pipeline.resolution.grammar import apposition_of, describe, noun_of_relation
from apps.pipeline.resolution.pronouns import kind_of
from apps.pipeline.resolution.resolve_mention import ResolutionStep, ResolvedMention, resolve

# By candidate index and phrase: the entity that a judge has chosen.
Chosen = Mapping[tuple[int, str], UUID]
NAME_PREDICATES = frozenset({"name", "has_name", "first_name", "is_named", "is_called"})


@dataclass(frozen=True, slots=True)
class LinkedCandidate:
    """A candidate with the results of its mentions."""

    candidate: Candidate
    resolutions: tuple[tuple[Mention, ResolvedMention], ...]

    @property
    def rules(self) -> dict[str, str]:
        """Return the rule that resolved each mention."""
        return {mention.text: resolution.rule.value for mention, resolution in self.resolutions}

    @property
    def entities(self) -> dict[str, KnownEntity]:
        """Return the entity of each resolved mention."""
        return {mention.text: found.entity for mention, found in self.resolutions if found.entity}


def introductions_first(draft: Draft) -> list[Candidate]:
    """Order by turn; within a turn, "Lena is User's sister" precedes other statements about Lena."""
    places = {turn.id: place for place, turn in enumerate(draft.request.turns)}

    def order(candidate: Candidate) -> tuple[int, bool, int]:
        place = max(places[turn_id] for turn_id in candidate.source_turn_ids if turn_id in places)
        return place, not _introduces(candidate) and candidate.predicate not in NAME_PREDICATES, candidate.index

    return sorted(draft.candidates, key=order)


def link(draft: Draft, candidate: Candidate, *, entity_index: EntityIndex, chosen: Chosen) -> LinkedCandidate:
    """Resolve the mentions of a candidate; `chosen` are the choices of a judge. New names are added to the index."""

    def settle(mention: Mention) -> ResolvedMention:
        if introduced := _introduced_in_passing(draft, candidate, mention, entity_index):
            return introduced
        found = resolve(
            mention,
            request=draft.request,
            candidate=candidate,
            entity_index=entity_index,
            policy=draft.policy.resolution,
        )
        entity_id = chosen.get((candidate.index, mention.text)) if found.rule is ResolutionStep.TIE else None
        return ResolvedMention(ResolutionStep.JUDGE, entity_index.get(entity_id)) if entity_id else found

    if linked := _introduced(draft, candidate, settle, entity_index):
        return linked
    resolutions = tuple((mention, settle(mention)) for mention in mentions_of(candidate))
    linked = LinkedCandidate(candidate, resolutions)
    _learn_name(linked, entity_index)
    return linked


def mentions_of(candidate: Candidate) -> tuple[Mention, ...]:
    """Return all mentions of a candidate: subject, object and others."""
    named = (candidate.object.entity,) if candidate.object.entity else ()
    return candidate.subject, *named, *candidate.mentions


def _introduces(candidate: Candidate) -> bool:
    """Return True if a relation connects a name with a description: "Priya is User's manager"."""
    other = candidate.object.entity
    if not candidate.traits.ties_entities or other is None:
        return False
    read = noun_of_relation(candidate.predicate)
    if read is None:
        return False
    holder = candidate.subject if read[1] else other
    return not holder.is_speaker and kind_of(holder.text) is None and describe(holder.text) is None


def _introduced(
    draft: Draft, candidate: Candidate, settle: Callable[[Mention], ResolvedMention], entity_index: EntityIndex
) -> LinkedCandidate | None:
    read, other = noun_of_relation(candidate.predicate), candidate.object.entity
    if not _introduces(candidate) or read is None or other is None:
        return None
    noun, subject_holds = read
    holder, owner = (candidate.subject, other) if subject_holds else (other, candidate.subject)
    owned = settle(owner)
    if owned.entity is None:
        return LinkedCandidate(candidate, ((owner, owned), (holder, ResolvedMention(ResolutionStep.NOTHING))))
    said_at = source_turn(request=draft.request, candidate=candidate).said_at
    found = introduce(
        name=holder.text, owner=owned.entity, noun=noun, candidate=candidate, said_at=said_at, entity_index=entity_index
    )
    resolution = ResolvedMention(ResolutionStep.DESCRIPTION, found) if found else ResolvedMention(ResolutionStep.TIE)
    more = tuple((mention, settle(mention)) for mention in candidate.mentions)
    return LinkedCandidate(candidate, ((owner, owned), (holder, resolution), *more))


def _introduced_in_passing(
    draft: Draft, candidate: Candidate, mention: Mention, entity_index: EntityIndex
) -> ResolvedMention | None:
    """Add the alias that an apposition gives: "Lena, User's sister, lives in York"."""
    if mention.is_speaker or mention.entity_id is not None:
        return None
    described = apposition_of(mention.text, sentence=candidate.content)
    if described is None:
        return None
    owner = Mention(text=described.owner, type=EntityType.PERSON, is_speaker=described.owner == USER)
    owned = resolve(
        owner, request=draft.request, candidate=candidate, entity_index=entity_index, policy=draft.policy.resolution
    )
    if owned.entity is None:
        return None
    said_at = source_turn(request=draft.request, candidate=candidate).said_at
    found = introduce(
        name=mention.text,
        owner=owned.entity,
        noun=described.noun,
        candidate=candidate,
        said_at=said_at,
        entity_index=entity_index,
    )
    return ResolvedMention(ResolutionStep.DESCRIPTION, found) if found else None


def _learn_name(linked: LinkedCandidate, entity_index: EntityIndex) -> None:
    """Rename the end user to the name that they have given, and others to a corrected name."""
    candidate, name = linked.candidate, linked.candidate.object.text.strip()
    named = linked.entities.get(candidate.subject.text)
    told = candidate.speech_act is SpeechAct.ASSERTED and candidate.polarity is Polarity.POSITIVE
    if not (name and told and named and candidate.predicate in NAME_PREDICATES):
        return
    if named.is_user or takes_back(candidate.evidence, value=name, former=named.name):
        entity_index.rename(named, name)
