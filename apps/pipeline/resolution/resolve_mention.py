"""Resolution of one mention, by rules in order: speaker, pronoun, description, exact name, first name, close spelling,
new name."""

import re
from dataclasses import dataclass
from enum import StrEnum

from apps.pipeline.core.draft import KnownEntity, Request
from apps.pipeline.core.enums import EntityType
from apps.pipeline.core.policy import ResolutionPolicy
from apps.pipeline.core.statement import Candidate, Mention
from apps.pipeline.lexicon.kinship import relation_noun
from apps.pipeline.resolution.alias_introductions import introduce
from apps.pipeline.resolution.discourse import Discourse, discourse_of, source_turn
from apps.pipeline.resolution.entity_index import EntityIndex, genders_of, of_kind
from apps.pipeline.resolution.fuzzy_match import by_first_name, closest
from apps.pipeline.resolution.grammar import Description, alias_of, describe
from apps.pipeline.resolution.name_folding import fold_name, is_proper_name
from apps.pipeline.resolution.pronouns import PronounKind, gender_of, kind_of

# Types that "he" and "she" may refer to: most sentences about a pet give it a gender.
ANIMATE = frozenset({EntityType.PERSON, EntityType.ANIMAL})
_THE_USER = frozenset({"user", "the user", "end user"})
_INDEFINITE = re.compile(r"^(?:a|an|some|any|every|no|each|one|someone|somebody|something|everyone|people)\b", re.I)


class ResolutionStep(StrEnum):
    """The rule that resolved a mention; recorded in the span."""

    GIVEN = "given"
    JUDGE = "judge"
    SPEAKER = "speaker"
    PRONOUN = "pronoun"
    REMEMBERED = "remembered"  # a pronoun that opens a session
    DESCRIPTION = "description"
    NEW_DESCRIPTION = "new_description"
    ALIAS = "alias"
    FIRST_NAME = "first_name"
    FUZZY = "fuzzy"
    NEW = "new"
    TIE = "tie"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class ResolvedMention:
    """The entity of a mention and the rule that found it; without an entity it is ambiguous or unknown."""

    rule: ResolutionStep
    entity: KnownEntity | None = None
    choices: tuple[KnownEntity, ...] = ()  # of a tie


def speaker_of(*, request: Request, candidate: Candidate, directory: EntityIndex) -> KnownEntity:
    """Return the entity of the speaker of a candidate: the end user, or the person named by the turn."""
    name = source_turn(request=request, candidate=candidate).speaker.strip()
    if not name or fold_name(name) in _THE_USER:
        return directory.user()
    found = directory.named(name, kind=EntityType.PERSON)
    return next(iter(found), None) or directory.add(name=name, kind=EntityType.PERSON)


def resolve(
    mention: Mention, *, request: Request, candidate: Candidate, directory: EntityIndex, policy: ResolutionPolicy
) -> ResolvedMention:
    """Find or create the entity that a mention refers to; the first rule that applies decides."""
    if (given := directory.find(mention.entity_id)) is not None:
        return ResolvedMention(ResolutionStep.GIVEN, given)
    speaker = speaker_of(request=request, candidate=candidate, directory=directory)
    kind = kind_of(mention.text)
    if mention.is_speaker or kind is PronounKind.SPEAKER:
        return ResolvedMention(ResolutionStep.SPEAKER, speaker)
    if fold_name(mention.text) in _THE_USER:
        return ResolvedMention(ResolutionStep.SPEAKER, directory.user())
    scene = discourse_of(request=request, candidate=candidate, speaker=speaker, mention=mention.text)
    if kind is not None:
        return _antecedent(mention.text, scene=scene, directory=directory, kind=mention.type)
    if description := describe(mention.text):
        return _described(description, mention=mention, candidate=candidate, scene=scene, directory=directory)
    return _named(mention, scene=scene, directory=directory, policy=policy)


def _antecedent(pronoun: str, *, scene: Discourse, directory: EntityIndex, kind: EntityType | None) -> ResolvedMention:
    """Return the only fitting entity of the latest sentence that names one; two are ambiguous.

    If nothing before it mentions anybody, an earlier session did: the only known entity that it can mean.
    """
    fitting = [each for each in directory if _fits(each, pronoun=pronoun, kind=kind) and not scene.is_talking(each)]
    if scene.tells_of_nobody and len(fitting) == 1 and gender_of(pronoun) in genders_of(fitting[0]):
        return ResolvedMention(ResolutionStep.REMEMBERED, fitting[0])
    return _only(scene.nearest(fitting), rule=ResolutionStep.PRONOUN)


def _fits(entity: KnownEntity, *, pronoun: str, kind: EntityType | None) -> bool:
    if kind_of(pronoun) is PronounKind.THING:
        return entity.type is not EntityType.PERSON and of_kind(entity, kind)
    if kind_of(pronoun) is not PronounKind.PERSON or entity.type not in ANIMATE:
        return False
    told, known = gender_of(pronoun), genders_of(entity)
    return told is None or not known or told in known


def _described(
    description: Description, *, mention: Mention, candidate: Candidate, scene: Discourse, directory: EntityIndex
) -> ResolvedMention:
    if not description.owner:
        return _definite(description, scene=scene, directory=directory)
    owner = _owner(description, scene=scene, directory=directory)
    if owner is None:
        return ResolvedMention(ResolutionStep.NOTHING)
    if description.name:
        named = introduce(
            name=description.name, owner=owner, noun=description.noun, candidate=candidate,
            said_at=scene.turn.said_at, directory=directory,
        )  # fmt: skip
        return ResolvedMention(ResolutionStep.DESCRIPTION, named) if named else ResolvedMention(ResolutionStep.TIE)
    known = directory.described(owner=owner, noun=description.noun)
    if known:
        return _only(known if len(known) == 1 else scene.nearest(known), rule=ResolutionStep.DESCRIPTION)
    alias = alias_of(owner_name=owner.name, noun=description.noun)
    noun = relation_noun(description.noun)
    kind = noun.type if noun else mention.type or EntityType.OTHER
    return ResolvedMention(ResolutionStep.NEW_DESCRIPTION, directory.add(name=alias, kind=kind, aliases=(alias,)))


def _definite(description: Description, *, scene: Discourse, directory: EntityIndex) -> ResolvedMention:
    """Resolve "the company": the speaker's own, or the latest one that was named."""
    own = directory.described(owner=scene.speaker, noun=description.noun)
    noun = relation_noun(description.noun)
    if len(own) == 1 or noun is None:
        return _only(own, rule=ResolutionStep.DESCRIPTION)
    return _only(scene.nearest(each for each in directory if each.type is noun.type), rule=ResolutionStep.DESCRIPTION)


def _owner(description: Description, *, scene: Discourse, directory: EntityIndex) -> KnownEntity | None:
    """Find the owner in a description; an unknown name is a person if the noun is a relation noun."""
    text = description.owner
    kind = kind_of(text)
    if kind is PronounKind.SPEAKER:
        return scene.speaker
    if kind is not None:
        return _antecedent(text, scene=scene, directory=directory, kind=None).entity
    if fold_name(text) in _THE_USER:
        return directory.user()
    found = directory.named(text)
    if len(found) > 1:
        return _only(scene.nearest(found), rule=ResolutionStep.ALIAS).entity
    if found or relation_noun(description.noun) is None:
        return found[0] if found else None
    return directory.add(name=text, kind=EntityType.PERSON)


def _named(mention: Mention, *, scene: Discourse, directory: EntityIndex, policy: ResolutionPolicy) -> ResolvedMention:
    known = directory.named(mention.text, kind=mention.type)
    if known:
        return _only(known if len(known) == 1 else scene.nearest_told_apart(known), rule=ResolutionStep.ALIAS)
    if _INDEFINITE.match(mention.text) or not (mention.type or is_proper_name(mention.text)):
        return ResolvedMention(ResolutionStep.NOTHING)
    alike = [entity for entity in directory if of_kind(entity, mention.type)]
    if found := by_first_name(name=mention.text, among=alike):
        return ResolvedMention(ResolutionStep.FIRST_NAME, found)
    if found := closest(name=mention.text, among=alike, policy=policy):
        return ResolvedMention(ResolutionStep.FUZZY, directory.add_alias(found, mention.text))
    return ResolvedMention(ResolutionStep.NEW, directory.add(name=mention.text, kind=mention.type or EntityType.OTHER))


def _only(entities: tuple[KnownEntity, ...], *, rule: ResolutionStep) -> ResolvedMention:
    if len(entities) == 1:
        return ResolvedMention(rule, entities[0])
    return (
        ResolvedMention(ResolutionStep.TIE, choices=entities) if entities else ResolvedMention(ResolutionStep.NOTHING)
    )
