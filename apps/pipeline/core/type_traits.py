"""The traits of each memory type in one table: a new type is a member of MemoryType and a row here."""

from collections.abc import Mapping
from dataclasses import dataclass

from apps.pipeline.core.enums import MemoryType


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeTraits:
    """What stages, ranking and decay need to know about a memory type."""

    half_life_days: float  # of freshness, if the policy gives none
    # Questions that a memory of the type answers; {attribute} is replaced by its predicate.
    questions: tuple[str, ...]
    repeatable: bool = False  # can happen again: different days or different wordings are different memories
    dated: bool = False  # has a time, which is read from its words and shown with it
    holds_slot: bool = True  # can be the value of its subject and predicate, which a later value replaces
    ties_entities: bool = False  # connects two entities; either may be the subject


TYPE_TRAITS: Mapping[MemoryType, TypeTraits] = {
    MemoryType.FACT: TypeTraits(
        half_life_days=365.0,
        questions=("What is known about {subject} and {about}?", "What is {whose} {attribute}?"),
    ),
    MemoryType.PREFERENCE: TypeTraits(
        half_life_days=365.0,
        questions=("What does {subject} think of {about}?", "How does {subject} like {about}?"),
    ),
    MemoryType.EVENT: TypeTraits(
        half_life_days=90.0,
        questions=("What happened with {subject} and {about}?", "When was that: {subject} and {about}?"),
        repeatable=True,
        dated=True,
        holds_slot=False,
    ),
    MemoryType.ENTITY: TypeTraits(
        half_life_days=730.0,
        questions=("Who or what is {about}?", "What is {about} to {subject}?"),
    ),
    MemoryType.RELATION: TypeTraits(
        half_life_days=730.0,
        questions=("Who is {whose} {attribute}?", "How is {subject} related to {about}?"),
        ties_entities=True,
    ),
}

SLOT_TYPES = frozenset(type for type, traits in TYPE_TRAITS.items() if traits.holds_slot)
