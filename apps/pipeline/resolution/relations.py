"""Nouns that say what someone or something is to a person: "manager", "sister", "dog", "company"."""

from dataclasses import dataclass
from enum import StrEnum

from apps.pipeline.core.enums import EntityType


class Gender(StrEnum):
    """What a noun or a pronoun tells of a person; a name tells nothing."""

    FEMALE = "female"
    MALE = "male"


@dataclass(frozen=True, slots=True)
class RelationNoun:
    """One noun of the table."""

    type: EntityType
    exclusive: bool = False  # one holder at a time: a new manager takes the word over from the last
    kin: str = ""  # family members of different kin are different people
    gender: Gender | None = None


_F, _M = Gender.FEMALE, Gender.MALE
_PERSON, _ANIMAL = EntityType.PERSON, EntityType.ANIMAL

_KIN: dict[str, tuple[str, Gender | None, bool]] = {
    "mother": ("parent", _F, True), "mom": ("parent", _F, True), "mum": ("parent", _F, True),
    "father": ("parent", _M, True), "dad": ("parent", _M, True),
    "sister": ("sibling", _F, False), "brother": ("sibling", _M, False), "sibling": ("sibling", None, False),
    "daughter": ("child", _F, False), "son": ("child", _M, False),
    "child": ("child", None, False), "kid": ("child", None, False), "baby": ("child", None, False),
    "aunt": ("aunt or uncle", _F, False), "uncle": ("aunt or uncle", _M, False), "cousin": ("cousin", None, False),
    "niece": ("niece or nephew", _F, False), "nephew": ("niece or nephew", _M, False),
    "grandmother": ("grandparent", _F, False), "grandma": ("grandparent", _F, False),
    "grandfather": ("grandparent", _M, False), "grandpa": ("grandparent", _M, False),
    "parents": ("parents", None, True),
}  # fmt: skip
_PARTNERS: dict[str, Gender | None] = {
    "wife": _F, "husband": _M, "partner": None, "girlfriend": _F, "boyfriend": _M, "fiancee": _F, "fiance": _M,
    "fiancée": _F, "fiancé": _M, "spouse": None, "ex": None,
}  # fmt: skip
_SOLE_PEOPLE = "manager boss supervisor landlord landlady doctor dentist therapist accountant mentor principal"
_MANY_PEOPLE = (
    "friend colleague coworker co-worker teammate neighbour neighbor roommate flatmate student teacher client coach "
    "trainer tutor professor lawyer assistant employee classmate"
)
_ANIMALS = "dog cat puppy kitten horse rabbit bird parrot hamster pet turtle fish"
_PLACES = "city town village hometown country flat apartment house office school university neighbourhood"
_ORGANISATIONS = "company employer firm startup band team club church bank gym"
_PROJECTS = "project thesis app website blog podcast novel book"
_PRODUCTS = "car bike bicycle phone laptop computer camera guitar piano motorbike motorcycle van boat tablet"

_SOLE_THINGS = frozenset({"hometown", "company", "employer"})

NOUNS: dict[str, RelationNoun] = {
    **{
        noun: RelationNoun(type=_PERSON, exclusive=sole, kin=kin, gender=gender)
        for noun, (kin, gender, sole) in _KIN.items()
    },
    **{noun: RelationNoun(type=_PERSON, exclusive=True, gender=gender) for noun, gender in _PARTNERS.items()},
    **{noun: RelationNoun(type=_PERSON, exclusive=True) for noun in _SOLE_PEOPLE.split()},
    **{noun: RelationNoun(type=_PERSON) for noun in _MANY_PEOPLE.split()},
    **{noun: RelationNoun(type=_ANIMAL) for noun in _ANIMALS.split()},
    **{
        noun: RelationNoun(type=kind, exclusive=noun in _SOLE_THINGS)
        for kind, nouns in (
            (EntityType.PLACE, _PLACES),
            (EntityType.ORGANISATION, _ORGANISATIONS),
            (EntityType.PROJECT, _PROJECTS),
            (EntityType.PRODUCT, _PRODUCTS),
        )
        for noun in nouns.split()
    },
}


_IRREGULAR = {"children": "child", "wives": "wife"}


def relation_noun(noun: str) -> RelationNoun | None:
    """Return what is known of a noun, by its last word: "old school friend" is a friend, "dogs" are animals."""
    words = noun.casefold().split()
    if not words:
        return None
    return NOUNS.get(words[-1]) or _of_many(words[-1])


def _of_many(plural: str) -> RelationNoun | None:
    """Return what several of a kind are; several never take a word over from one another."""
    one = _IRREGULAR.get(plural) or (plural.removesuffix("s") if plural.endswith("s") else "")
    single = NOUNS.get(one) or NOUNS.get(f"{one.removesuffix('ie')}y")
    return RelationNoun(type=single.type, kin=single.kin, gender=single.gender) if single else None


def may_be_one(*, noun: str, others: tuple[str, ...]) -> bool:
    """Tell whether one person can be all of this: a brother is neither a cousin nor a manager."""
    return all(_compatible(noun, other) for other in others)


def _compatible(noun: str, other: str) -> bool:
    one, two = relation_noun(noun), relation_noun(other)
    if one is None or two is None:
        return True
    return one.kin == two.kin and (one.gender is two.gender or None in (one.gender, two.gender))
