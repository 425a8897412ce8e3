"""Relation nouns, which say what someone or something is to a person: "sister", "manager", "dog", "company"."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from apps.pipeline.core.enums import EntityType
from apps.pipeline.lexicon.tables import read_table


class Gender(StrEnum):
    """The gender that a noun or pronoun implies; a name implies none."""

    FEMALE = "female"
    MALE = "male"


@dataclass(frozen=True, slots=True)
class RelationNoun:
    """One noun of the table."""

    type: EntityType
    exclusive: bool = False  # refers to one entity at a time: a new manager replaces the former one
    kin: str = ""  # family; relatives of different kinds are different people
    gender: Gender | None = None
    is_plural: bool = False


_TABLE = read_table("kinship")


def _single() -> Iterator[tuple[str, RelationNoun]]:
    """Yield the nouns of the table."""
    for entry in (*_TABLE["family"], *_TABLE["partners"]):
        noun = RelationNoun(
            type=EntityType.PERSON,
            exclusive=entry.get("exclusive", "kind" not in entry),
            kin=entry.get("kind", ""),
            is_plural=entry.get("plural_only", False),
        )
        for key, gender in (("female", Gender.FEMALE), ("male", Gender.MALE), ("any", None)):
            for word in entry.get(key, "").split():
                yield word, replace(noun, gender=gender)
    for kind, words in {"person": _TABLE["people"], "animal": _TABLE["animals"], **_TABLE["things"]}.items():
        noun = RelationNoun(type=EntityType(kind))
        yield from ((word, replace(noun, exclusive=True)) for word in words.get("exclusive", "").split())
        yield from ((word, noun) for word in words.get("others", "").split())
        yield from ((word, replace(noun, is_plural=True)) for word in words.get("plural_only", "").split())


def _plural_of(noun: str) -> str:
    if noun in _TABLE["irregular_plurals"]:
        return str(_TABLE["irregular_plurals"][noun])
    if noun.endswith("-in-law"):
        return noun.replace("-", "s-", 1)
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


_SINGLE = dict(_single())
# Several people never replace one another.
_PLURALS = {
    _plural_of(word): replace(noun, exclusive=False, is_plural=True)
    for word, noun in _SINGLE.items()
    if not noun.is_plural
}
NOUNS: dict[str, RelationNoun] = _PLURALS | _SINGLE


def relation_noun(noun: str) -> RelationNoun | None:
    """Return the relation noun at the end of a phrase: "old school friend" is a friend; None if there is none."""
    words = noun.casefold().split()
    return NOUNS.get(words[-1]) if words else None


def may_be_one(noun: str, other: str) -> bool:
    """Return True if one person can be both: a brother is neither a cousin nor a manager."""
    one, two = relation_noun(noun), relation_noun(other)
    return not one or not two or (one.kin == two.kin and (one.gender is two.gender or None in (one.gender, two.gender)))
