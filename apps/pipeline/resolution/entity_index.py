"""EntityIndex: the entities of one end user, including those found while a trace is resolved."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from uuid import UUID

from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import EntityType
from apps.pipeline.lexicon.kinship import Gender, relation_noun
from apps.pipeline.resolution.names import alias_of, describe, fold_name, is_description

USER = "User"


class EntityIndex:
    """Known and new entities, and changes of their names; created for one trace and discarded after it."""

    def __init__(self, *, entities: Iterable[KnownEntity], new_id: Callable[[], UUID]) -> None:
        self._entities = {entity.id: entity for entity in entities}
        self._known = frozenset(self._entities)
        self._new_id = new_id
        # What changes for known entities: their new aliases, descriptions that pass to them, and new names.
        self.new_aliases: dict[tuple[UUID, str], None] = {}
        self.moved_aliases: dict[str, tuple[UUID, str]] = {}
        self.renamed: dict[UUID, str] = {}

    def __iter__(self) -> Iterator[KnownEntity]:
        return iter(tuple(self._entities.values()))

    def get(self, entity_id: UUID) -> KnownEntity:
        """Return the current state of an entity."""
        return self._entities[entity_id]

    def find(self, entity_id: UUID | None) -> KnownEntity | None:
        """Return an entity that an extractor has referred to by its id, if there is one."""
        return self._entities.get(entity_id) if entity_id else None

    @property
    def new_entities(self) -> tuple[KnownEntity, ...]:
        """Return the current state of the entities that are not stored yet."""
        return tuple(entity for entity in self._entities.values() if entity.id not in self._known)

    # Reading.

    def known_user(self) -> KnownEntity | None:
        """Return the end user's entity if there is one."""
        return next((entity for entity in self if entity.is_user), None)

    def user(self) -> KnownEntity:
        """Return the end user's entity, created if there is none."""
        return self.known_user() or self.add(name=USER, kind=EntityType.PERSON, is_user=True)

    def named(self, name: str, *, kind: EntityType | None = None) -> tuple[KnownEntity, ...]:
        """Return entities of a compatible type with this name or alias, the most recently mentioned first."""
        folded = fold_name(name)
        return tuple(
            entity
            for entity in self
            if of_kind(entity, kind) and folded in {fold_name(each) for each in (entity.name, *entity.aliases)}
        )

    def described(self, *, owner: KnownEntity, noun: str) -> tuple[KnownEntity, ...]:
        """Return the entities with a relation to an owner: their manager, sister, dog…"""
        wanted = {fold_name(alias_of(owner_name=each, noun=noun)) for each in (owner.name, *owner.aliases)}
        return tuple(entity for entity in self if wanted & {fold_name(alias) for alias in entity.aliases})

    # Growing.

    def add(self, *, name: str, kind: EntityType, aliases: tuple[str, ...] = (), is_user: bool = False) -> KnownEntity:
        """Add a new entity."""
        entity = KnownEntity(id=self._new_id(), name=name, type=kind, aliases=aliases, is_user=is_user)
        self._entities[entity.id] = entity
        return entity

    def add_alias(self, entity: KnownEntity, alias: str) -> KnownEntity:
        """Give an entity another name; a known name changes nothing."""
        if fold_name(alias) in {fold_name(each) for each in (entity.name, *entity.aliases)}:
            return entity
        if entity.id in self._known:
            self.new_aliases[entity.id, alias] = None
        return self._put(replace(entity, aliases=(*entity.aliases, alias)))

    def move_alias(self, entity: KnownEntity, alias: str) -> KnownEntity:
        """Give an entity a description that only one entity can have, and remove it from the others."""
        folded = fold_name(alias)
        holders = [each for each in self if each.id != entity.id and folded in map(fold_name, each.aliases)]
        for holder in holders:
            self._put(replace(holder, aliases=tuple(each for each in holder.aliases if fold_name(each) != folded)))
        if any(holder.id in self._known for holder in holders):
            self.moved_aliases[folded] = (entity.id, alias)
        return self.add_alias(entity, alias)

    def rename(self, entity: KnownEntity, name: str) -> KnownEntity:
        """Rename an entity; the former name stays as an alias, and so do descriptions that contain it."""
        if entity.name == name:
            return entity
        if entity.id in self._known:
            self.renamed[entity.id] = name
        for each in self:  # "User's manager" becomes "Ana's manager"
            description = describe(each.name) if is_description(each.name) else None
            if description is not None and description.owner == entity.name:
                self.rename(each, alias_of(owner_name=name, noun=description.noun))
        kept = tuple(dict.fromkeys(alias for alias in (*entity.aliases, entity.name) if alias != name))
        return self._put(replace(self.get(entity.id), name=name, aliases=kept))

    def _put(self, entity: KnownEntity) -> KnownEntity:
        self._entities[entity.id] = entity
        return entity


def of_kind(entity: KnownEntity, kind: EntityType | None) -> bool:
    """Return True if an entity may be of a type; OTHER and None match every type."""
    return kind in (None, EntityType.OTHER, entity.type) or entity.type is EntityType.OTHER


def genders_of(entity: KnownEntity) -> set[Gender]:
    """Return the genders that the descriptions of an entity imply: "User's sister" is female."""
    descriptions = (describe(each) for each in (entity.name, *entity.aliases))
    nouns = (relation_noun(description.noun) for description in descriptions if description)
    return {noun.gender for noun in nouns if noun and noun.gender}
