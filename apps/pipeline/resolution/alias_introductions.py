"""Introductions: "Priya is User's manager" connects a name with a description."""

import re
from datetime import datetime

from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import EntityType, Polarity, SpeechAct
from apps.pipeline.core.statement import Candidate
from apps.pipeline.lexicon.kinship import may_be_one, relation_noun
from apps.pipeline.resolution.entity_index import EntityIndex
from apps.pipeline.resolution.grammar import alias_of, describe, is_description

_NEW_HOLDER = re.compile(r"\bnew\b", re.IGNORECASE)


def introduce(
    *, name: str, owner: KnownEntity, noun: str, candidate: Candidate, said_at: datetime, directory: EntityIndex
) -> KnownEntity | None:
    """Return the entity with a name and a description, created or renamed if necessary; None if it is ambiguous.

    A brother Sam and a manager Sam stay two entities. A description that only one entity can have passes to it, unless
    its present holder was mentioned after this was said.
    """
    kind = _kind(noun)
    found = [
        each
        for each in directory.named(name, kind=kind)
        if each.id != owner.id and may_be_one(noun=noun, others=_nouns(each, owner=owner))
    ]
    if len(found) > 1:
        holders = {each.id for each in directory.described(owner=owner, noun=noun)}
        found = [each for each in found if each.id in holders]
        if len(found) != 1:
            return None
    entity = found[0] if found else _named_now(name, owner=owner, noun=noun, candidate=candidate, directory=directory)
    return _hand_over(entity, owner=owner, noun=noun, candidate=candidate, said_at=said_at, directory=directory)


def _kind(noun: str) -> EntityType:
    known = relation_noun(noun)
    return known.type if known else EntityType.OTHER


def _named_now(
    name: str, *, owner: KnownEntity, noun: str, candidate: Candidate, directory: EntityIndex
) -> KnownEntity:
    """Give the nameless holder of the description its name, or create an entity."""
    nameless = [each for each in directory.described(owner=owner, noun=noun) if is_description(each.name)]
    if len(nameless) == 1 and not _NEW_HOLDER.search(candidate.evidence) and _is_meant(candidate):
        return directory.rename(nameless[0], name)
    return directory.add(name=name, kind=_kind(noun))


def _hand_over(
    entity: KnownEntity,
    *,
    owner: KnownEntity,
    noun: str,
    candidate: Candidate,
    said_at: datetime,
    directory: EntityIndex,
) -> KnownEntity:
    alias = alias_of(owner_name=owner.name, noun=noun)
    known = relation_noun(noun)
    if not _is_meant(candidate):
        return entity
    if known is None or not known.exclusive:
        return directory.add_alias(entity, alias)
    others = [each for each in directory.described(owner=owner, noun=noun) if each.id != entity.id]
    if any(each.last_mentioned_at and each.last_mentioned_at > said_at for each in others):
        return entity
    return directory.move_alias(entity, alias)


def _is_meant(candidate: Candidate) -> bool:
    return candidate.speech_act is SpeechAct.ASSERTED and candidate.polarity is Polarity.POSITIVE


def _nouns(entity: KnownEntity, *, owner: KnownEntity) -> tuple[str, ...]:
    described = (describe(each) for each in (entity.name, *entity.aliases))
    names = (owner.name, *owner.aliases)
    return tuple(each.noun for each in described if each is not None and each.owner in names)
