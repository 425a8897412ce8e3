"""Write a linked candidate with the names of its entities, or drop it."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from apps.pipeline.core.draft import Drop, KnownEntity
from apps.pipeline.core.enums import NOTE, Reason, Stage
from apps.pipeline.core.statement import PLAIN_EXTRACTORS, Candidate, Mention, ObjectValue
from apps.pipeline.resolution.entity_index import USER, EntityIndex
from apps.pipeline.resolution.grammar import is_description
from apps.pipeline.resolution.link_mentions import NAME_PREDICATES, LinkedCandidate
from apps.pipeline.resolution.pronouns import dangling_in, kind_of
from apps.pipeline.resolution.resolve_mention import ANIMATE, ResolutionStep
from apps.pipeline.resolution.rewriting import rewrite

_ASSISTANT = "the assistant"
_POSSESSIVE = re.compile(r"(?i)(?<![\w'])(?:his|their|her(?=\s+[a-z]))(?!\w)")
_OBJECT = re.compile(r"(?i)(?<![\w'])(?:he|she|they|him|her|them)(?!\w)")


@dataclass(frozen=True, slots=True)
class Tie:
    """An ambiguous phrase: it may refer to any of several known entities."""

    phrase: str
    choices: tuple[UUID, ...]
    names: tuple[str, ...]


def write(linked: LinkedCandidate, *, entity_index: EntityIndex) -> Candidate | Drop:
    """Rewrite a candidate with the current names, or drop it."""
    candidate = linked.candidate
    entities = {text: entity_index.get(entity.id) for text, entity in linked.entities.items()}
    if NOTE in candidate.tags:
        return _with_entities(candidate, entities)  # a quote stays as it was said
    if (unresolved := _unresolved(linked)) is not None:
        return _drop(candidate, unresolved, linked)
    rewritten = _with_entities(candidate, entities)
    content = rewrite(candidate.content, names=_shown_names(candidate, entities, entity_index))
    people = {USER} | {entity.name for entity in entities.values() if entity.type in ANIMATE}
    others = tuple(entity.name for entity in entity_index if entity.type in ANIMATE)
    if not candidate.extractor.startswith(PLAIN_EXTRACTORS):
        people |= set(others)  # models write self-contained sentences: a name before a pronoun is its antecedent
    dangling = dangling_in(content, people=tuple(sorted(people)), others=others)
    if dangling and candidate.subject.is_speaker and _ASSISTANT in content:
        content = _with_subject(content, name=entities[candidate.subject.text].name)
        dangling = dangling_in(content, people=tuple(sorted(people)), others=others)
    if dangling:
        return _drop(rewritten.evolve(content=content), dangling, linked)
    return rewritten.evolve(content=content)


def _with_subject(content: str, *, name: str) -> str:
    """Write the subject's name for a pronoun in a wish to the assistant, where it can mean nobody else."""
    named = _POSSESSIVE.sub(lambda _: f"{name}'s", content)
    return _OBJECT.sub(lambda _: name, named)


def _unresolved(linked: LinkedCandidate) -> str | None:
    """Return the first unresolved mention that must be an entity; a plain object may stay a literal."""
    for mention, resolution in linked.resolutions:
        is_subject = mention is linked.candidate.subject
        is_reference = kind_of(mention.text) is not None or resolution.rule is ResolutionStep.TIE
        if resolution.entity is None and (is_subject or is_reference):
            return mention.text
    return None


def _drop(candidate: Candidate, text: str, linked: LinkedCandidate) -> Drop:
    ties = tuple(
        Tie(
            phrase=mention.text,
            choices=tuple(each.id for each in found.choices),
            names=tuple(map(_described, found.choices)),
        )
        for mention, found in linked.resolutions
        if found.choices
    )
    detail = {"dangling": text, "rules": linked.rules, "ties": ties}
    return Drop(stage=Stage.RESOLVE_REFS, reason=Reason.RESOLUTION_FAILED, candidate=candidate, detail=detail)


def _described(entity: KnownEntity) -> str:
    """Describe an entity for a judge: name, type and other names."""
    return f"{entity.name} ({', '.join((entity.type.value, *entity.aliases))})"


def _shown_names(candidate: Candidate, entities: dict[str, KnownEntity], entity_index: EntityIndex) -> dict[str, str]:
    """Return the names to write: of the user "User" too; in a statement of a name, "User" or a description."""
    user = entity_index.known_user()
    names = {USER: user.name} if user else {}
    names |= {text: entity.name for text, entity in entities.items()}
    if candidate.predicate not in NAME_PREDICATES:
        return names
    named = entities[candidate.subject.text]
    if named.is_user:
        return {**names, USER: USER, candidate.subject.text: USER}
    described = next(filter(is_description, named.aliases), candidate.subject.text)
    return {**names, candidate.subject.text: rewrite(described, names={USER: names.get(USER, USER)})}


def _with_entities(candidate: Candidate, entities: dict[str, KnownEntity]) -> Candidate:
    def resolved(mention: Mention) -> Mention:
        entity = entities.get(mention.text)
        if entity is None:
            return mention
        return Mention(text=entity.name, type=entity.type, is_speaker=mention.is_speaker, entity_id=entity.id)

    return candidate.evolve(
        subject=resolved(candidate.subject),
        object=_resolved_object(candidate.object, resolved),
        mentions=tuple(map(resolved, candidate.mentions)),
    )


def _resolved_object(value: ObjectValue, resolved: Callable[[Mention], Mention]) -> ObjectValue:
    if value.entity is None:
        return value
    mention = resolved(value.entity)
    return ObjectValue(entity=mention) if mention.entity_id else ObjectValue(literal=value.entity.text)
