"""The table of relation nouns."""

import pytest

from apps.pipeline.core.enums import EntityType
from apps.pipeline.lexicon.kinship import KIN_WORDS, Gender, contrasts, may_be_one, relation_noun


@pytest.mark.parametrize(
    ("noun", "type", "exclusive", "gender"),
    [
        ("mother", EntityType.PERSON, True, Gender.FEMALE),
        ("older sister", EntityType.PERSON, False, Gender.FEMALE),
        ("sisters", EntityType.PERSON, False, Gender.FEMALE),
        ("manager", EntityType.PERSON, True, None),
        ("managers", EntityType.PERSON, False, None),
        ("wives", EntityType.PERSON, False, Gender.FEMALE),
        ("puppies", EntityType.ANIMAL, False, None),
        ("company", EntityType.ORGANISATION, True, None),
        ("Companies", EntityType.ORGANISATION, False, None),
        ("mothers-in-law", EntityType.PERSON, False, Gender.FEMALE),
    ],
)
def test_what_is_known_of_a_noun(noun: str, type: EntityType, exclusive: bool, gender: Gender | None) -> None:
    found = relation_noun(noun)
    assert found is not None
    assert (found.type, found.exclusive, found.gender) == (type, exclusive, gender)


@pytest.mark.parametrize("noun", ["", "umbrella", "sisterhood"])
def test_other_nouns_are_unknown(noun: str) -> None:
    assert relation_noun(noun) is None


@pytest.mark.parametrize(
    ("noun", "other", "possible"),
    [
        ("brother", "cousin", False),
        ("brother", "sister", False),
        ("brother", "sibling", True),
        ("brother", "manager", False),
        ("wife", "manager", True),
        ("granny", "grandmother", True),
        ("brother", "umbrella", True),
    ],
)
def test_what_one_person_can_be(noun: str, other: str, possible: bool) -> None:
    assert may_be_one(noun=noun, others=(other,)) is possible


def test_things_are_no_kin() -> None:
    assert {"dog", "boss", "in-laws", "children"} <= KIN_WORDS
    assert not {"company", "car", "city"} & KIN_WORDS


def test_contrasts_share_no_noun() -> None:
    nouns = [noun for group in contrasts() for noun in group]
    assert len(nouns) == len(set(nouns))
    assert {
        "mother",
        "mothers",
        "mom",
        "moms",
        "mum",
        "mums",
        "mam",
        "mams",
        "mommy",
        "mommies",
        "mummy",
        "mummies",
    } in contrasts()
