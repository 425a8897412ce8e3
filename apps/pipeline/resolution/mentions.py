"""Mentions: find or create the entity of each, by pronoun, description or name, and learn names and descriptions."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from apps.pipeline.core.draft import Draft, KnownEntity
from apps.pipeline.core.enums import EntityType, Polarity, SpeechAct
from apps.pipeline.core.statement import Candidate, Mention
from apps.pipeline.lexicon.kinship import may_be_one, relation_noun
from apps.pipeline.resolution.entity_index import EntityIndex, genders_of, of_kind
from apps.pipeline.resolution.names import (
    Description,
    alias_of,
    apposition_of,
    both_names,
    by_first_name,
    closest,
    describe,
    fold_name,
    is_description,
    is_proper_name,
    noun_of_relation,
)
from apps.pipeline.resolution.pronouns import PronounKind, gender_of, holds, kind_of

# By candidate index and phrase: the entity that a judge has chosen.
Chosen = Mapping[tuple[int, str], UUID]
NAME_PREDICATES = frozenset({"name", "has_name", "first_name", "is_named", "is_called"})
# Types that "he" and "she" may refer to: most sentences about a pet give it a gender.
ANIMATE = frozenset({EntityType.PERSON, EntityType.ANIMAL})
_THE_USER = frozenset({"user", "the user", "end user"})
_INDEFINITE = re.compile(r"^(?:a|an|some|any|every|no|each|one|someone|somebody|something|everyone|people)\b", re.I)
_NEW_HOLDER = re.compile(r"\bnew\b", re.IGNORECASE)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?\n]+|$)")
_REACH = 10  # number of turns searched for an antecedent


@dataclass(frozen=True, slots=True)
class ResolvedMention:
    """The entity of a mention and the rule that found it; without an entity it is ambiguous or unknown."""

    rule: str  # recorded in the span
    entity: KnownEntity | None = None
    choices: tuple[KnownEntity, ...] = ()  # of a tie


@dataclass(frozen=True, slots=True)
class LinkedCandidate:
    """A candidate with the results of its mentions."""

    candidate: Candidate
    resolutions: tuple[tuple[Mention, ResolvedMention], ...]

    @property
    def rules(self) -> dict[str, str]:
        """Return the rule that resolved each mention."""
        return {mention.text: resolution.rule for mention, resolution in self.resolutions}

    @property
    def entities(self) -> dict[str, KnownEntity]:
        """Return the entity of each resolved mention."""
        return {mention.text: found.entity for mention, found in self.resolutions if found.entity}


def mentions_of(candidate: Candidate) -> tuple[Mention, ...]:
    """Return all mentions of a candidate: subject, object and others."""
    named = (candidate.object.entity,) if candidate.object.entity else ()
    return candidate.subject, *named, *candidate.mentions


def introductions_first(draft: Draft) -> list[Candidate]:
    """Order by turn; within a turn, "Lena is User's sister" precedes other statements about Lena."""
    places = {turn.id: place for place, turn in enumerate(draft.request.turns)}

    def order(candidate: Candidate) -> tuple[int, bool, int]:
        place = max(places[turn_id] for turn_id in candidate.source_turn_ids if turn_id in places)
        names = _introduced_by(candidate) is not None or candidate.predicate in NAME_PREDICATES
        return place, not names, candidate.index

    return sorted(draft.candidates, key=order)


def link(draft: Draft, candidate: Candidate, *, entity_index: EntityIndex, chosen: Chosen) -> LinkedCandidate:
    """Resolve the mentions of a candidate; `chosen` are the choices of a judge. New names are added to the index."""
    return _Linking(draft, candidate, entity_index).link(chosen)


def _introduced_by(candidate: Candidate) -> tuple[Mention, Description] | None:
    """Return the mention that a relation describes: "Priya is User's manager"."""
    read, other = noun_of_relation(candidate.predicate), candidate.object.entity
    if read is None or other is None or not candidate.traits.ties_entities:
        return None
    noun, subject_holds = read
    holder, owner = (candidate.subject, other) if subject_holds else (other, candidate.subject)
    if holder.is_speaker or holder.text == owner.text or kind_of(holder.text) or describe(holder.text):
        return None
    whose = "my" if owner.is_speaker else owner.text
    if not is_proper_name(holder.text):  # "User has a dog": User's dog, until it gets a name
        return holder, Description(noun=holder.text.casefold(), owner=whose)
    return holder, Description(noun=noun, owner=whose, name=holder.text)


class _Linking:
    """The resolution of one candidate."""

    def __init__(self, draft: Draft, candidate: Candidate, index: EntityIndex) -> None:
        self._request, self._policy = draft.request, draft.policy.resolution
        self._candidate, self._index = candidate, index
        self._turn = draft.request.sources_of(candidate)[-1]
        name = self._turn.speaker.strip()
        if not name or fold_name(name) in _THE_USER:
            self._speaker = index.user()
        else:
            found = index.named(name, kind=EntityType.PERSON)
            self._speaker = found[0] if found else index.add(name=name, kind=EntityType.PERSON)
        self._is_asserted = candidate.speech_act is SpeechAct.ASSERTED and candidate.polarity is Polarity.POSITIVE

    def link(self, chosen: Chosen) -> LinkedCandidate:
        """Resolve the mentions, then learn a name that the candidate states."""
        candidate, resolutions = self._candidate, []
        for mention in mentions_of(candidate):
            found = self._resolve(mention)
            entity_id = chosen.get((candidate.index, mention.text)) if found.rule == "tie" else None
            if entity_id:
                found = ResolvedMention("judge", self._index.get(entity_id))
            resolutions.append((mention, found))
        linked = LinkedCandidate(candidate, tuple(resolutions))
        name, named = candidate.object.text.strip(), linked.entities.get(candidate.subject.text)
        if name and named and self._is_asserted and candidate.predicate in NAME_PREDICATES:
            # A model may give a name to an entity, by its id, that had only a description.
            is_nameless = candidate.subject.entity_id == named.id and is_description(named.name)
            is_new = is_nameless and not self._index.named(name, kind=named.type)
            if named.is_user or holds(candidate.evidence, named.name) or is_new:
                name, other = both_names(name)
                renamed = self._index.rename(named, name)
                if other:
                    self._index.add_alias(renamed, other)
        return linked

    def _resolve(self, mention: Mention) -> ResolvedMention:
        introduced = _introduced_by(self._candidate)
        if introduced and introduced[0] is mention:
            return self._described(introduced[1], kind=mention.type)
        content = self._candidate.content
        if (given := self._index.find(mention.entity_id)) is not None:
            # A model gave it by its id; the sentence may name another one in its place.
            surfaces = {*self._surfaces(given), given.name.split()[0]}
            if given.is_user or any(holds(content, text) for text in surfaces):
                return ResolvedMention("given", given)
            taken = {each.text for each in mentions_of(self._candidate)}
            place = "^" if mention is self._candidate.subject else r"(?<!\w)"
            others = [
                each
                for each in self._index
                if each.type is given.type and not each.is_user and each.name not in taken
                and re.search(rf"{place}{re.escape(each.name)}(?!\w|['’]s)", content)
            ]  # fmt: skip
            return ResolvedMention("given", others[0] if len(others) == 1 else given)
        described = None if mention.is_speaker else apposition_of(mention.text, sentence=content)
        if described and described.owner != mention.text:
            return self._described(replace(described, name=mention.text), kind=mention.type)
        return self._refer(mention)

    def _refer(self, mention: Mention) -> ResolvedMention:
        """Resolve a phrase by itself; the first rule that applies decides."""
        kind = kind_of(mention.text)
        if mention.is_speaker or kind is PronounKind.SPEAKER:
            return ResolvedMention("speaker", self._speaker)
        if fold_name(mention.text) in _THE_USER:
            return ResolvedMention("speaker", self._index.user())
        if kind is not None:
            return self._antecedent(mention)
        if description := describe(mention.text):
            return self._described(description, kind=mention.type)
        return self._named(mention)

    # Pronouns.

    def _antecedent(self, mention: Mention) -> ResolvedMention:
        """Return the only fitting entity of the latest sentence that names one; two are ambiguous.

        Those who take part in the conversation are no antecedents.
        """
        talking = {fold_name(turn.speaker) for turn in self._request.session_turns}
        kind, gender = kind_of(mention.text), gender_of(mention.text)
        fitting: list[KnownEntity] = []
        for each in self._index:
            if kind is PronounKind.THING:
                fits = each.type is not EntityType.PERSON and of_kind(each, mention.type)
            else:
                known = genders_of(each)
                has_gender = gender is None or not known or gender in known
                fits = kind is PronounKind.PERSON and each.type in ANIMATE and has_gender
            is_taking_part = each.is_user or each.id == self._speaker.id
            if fits and not is_taking_part and talking.isdisjoint(map(fold_name, (each.name, *each.aliases))):
                fitting.append(each)
        return _only(self._nearest(fitting, mention=mention.text), rule="pronoun")

    def _nearest(self, entities: Iterable[KnownEntity], *, mention: str) -> tuple[KnownEntity, ...]:
        """Return the entities in the latest sentence before a mention that names one; shared names tell nothing.

        The sentences of its own turn come first, then those of the turns before it.
        """
        surfaces = [(entity, self._surfaces(entity)) for entity in entities]
        shared = frozenset.intersection(*(each for _, each in surfaces)) if len(surfaces) > 1 else frozenset()
        turns = self._request.session_turns
        place = next(index for index, each in enumerate(turns) if each.id == self._turn.id)
        content = self._turn.content
        start = max(content.find(self._candidate.evidence), 0)
        found = re.search(rf"(?<!\w){re.escape(mention)}(?!\w)", content[start:], re.IGNORECASE)
        texts = [content[: start + found.start()] if found else content[: start or None]]
        texts += [each.content for each in reversed(turns[max(0, place - _REACH) : place])]
        for sentence in (each for text in texts for each in reversed(_SENTENCE.findall(text))):
            named = tuple(entity for entity, words in surfaces if any(holds(sentence, word) for word in words - shared))
            if named:
                return named
        return ()

    def _surfaces(self, entity: KnownEntity) -> frozenset[str]:
        """Return the texts by which the speaker may mention an entity: its names, and "my sister" for "User's"."""
        nouns = _nouns_of(entity, owner=self._speaker)
        own = (f"{whose} {noun}" for noun in nouns for whose in ("my", "your"))
        return frozenset((entity.name, *entity.aliases, *own))

    # Descriptions.

    def _described(self, description: Description, *, kind: EntityType | None) -> ResolvedMention:
        noun, known_noun = description.noun, relation_noun(description.noun)
        if not description.owner:  # "the company": the speaker's own, or the latest one that was named
            own = self._index.described(owner=self._speaker, noun=noun)
            if len(own) != 1 and known_noun:
                alike = [each for each in self._index if each.type is known_noun.type]
                own = self._nearest(alike, mention=f"the {noun}")
            return _only(own, rule="description")
        is_known = self._index.named(description.owner) or known_noun is None
        owner = self._refer(Mention(text=description.owner, type=None if is_known else EntityType.PERSON)).entity
        if owner is None:
            return ResolvedMention("nothing")
        if description.name:
            return self._introduce(description.name, owner=owner, noun=noun)
        found = self._index.described(owner=owner, noun=noun)
        if found:
            nearest = found if len(found) == 1 else self._nearest(found, mention=noun)
            return _only(nearest, rule="description")
        alias = alias_of(owner_name=owner.name, noun=noun)
        type = known_noun.type if known_noun else kind or EntityType.OTHER
        return ResolvedMention("new_description", self._index.add(name=alias, kind=type, aliases=(alias,)))

    def _introduce(self, name: str, *, owner: KnownEntity, noun: str) -> ResolvedMention:
        """Return the entity with a name and a description, created or renamed if necessary.

        A brother Sam and a manager Sam stay two entities.
        """
        known_noun = relation_noun(noun)
        kind = known_noun.type if known_noun else EntityType.OTHER
        holders = self._index.described(owner=owner, noun=noun)
        named = [
            each
            for each in self._index.named(name, kind=kind)
            if each.id != owner.id and all(may_be_one(noun, other) for other in _nouns_of(each, owner=owner))
        ]
        if len(named) > 1:
            named = [each for each in named if each in holders]
            if len(named) != 1:
                return ResolvedMention("tie")
        nameless = [each for each in holders if is_description(each.name)]
        if named:
            entity = named[0]
        elif len(nameless) == 1 and self._is_asserted and not _NEW_HOLDER.search(self._candidate.evidence):
            entity = self._index.rename(nameless[0], name)
        else:
            entity = self._index.add(name=name, kind=kind)
        # An exclusive description leaves its holder, unless that was mentioned later.
        alias = alias_of(owner_name=owner.name, noun=noun)
        is_exclusive = known_noun is not None and known_noun.exclusive
        others = [each for each in self._index.described(owner=owner, noun=noun) if each.id != entity.id]
        is_late = any(each.last_mentioned_at and each.last_mentioned_at > self._turn.said_at for each in others)
        if self._is_asserted and not is_exclusive:
            entity = self._index.add_alias(entity, alias)
        elif self._is_asserted and not is_late:
            entity = self._index.move_alias(entity, alias)
        return ResolvedMention("description", entity)

    # Names.

    def _named(self, mention: Mention) -> ResolvedMention:
        known = self._index.named(mention.text, kind=mention.type)
        if known:
            nearest = known if len(known) == 1 else self._nearest(known, mention=mention.text) or known
            return _only(nearest, rule="alias")
        if _INDEFINITE.match(mention.text) or not (mention.type or is_proper_name(mention.text)):
            return ResolvedMention("nothing")
        alike = [entity for entity in self._index if of_kind(entity, mention.type)]
        if found := by_first_name(mention.text, among=alike):
            return ResolvedMention("first_name", found)
        if found := closest(mention.text, among=alike, policy=self._policy):
            return ResolvedMention("fuzzy", self._index.add_alias(found, mention.text))
        added = self._index.add(name=mention.text, kind=mention.type or EntityType.OTHER)
        return ResolvedMention("new", added)


def _nouns_of(entity: KnownEntity, *, owner: KnownEntity) -> tuple[str, ...]:
    described = (describe(each) for each in (entity.name, *entity.aliases))
    owners = (owner.name, *owner.aliases)
    return tuple(each.noun for each in described if each is not None and each.owner in owners)


def _only(entities: tuple[KnownEntity, ...], *, rule: str) -> ResolvedMention:
    if len(entities) == 1:
        return ResolvedMention(rule, entities[0])
    return ResolvedMention("tie" if entities else "nothing", choices=entities)
