"""The speaker's people: their relations, statements about them, and mentions that remain to be resolved."""

import pytest

from apps.pipeline.core.enums import EntityType, MemoryType
from tests.pipeline.extraction.extract_helper import contents, said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My sister Lena lives in Rome.", ["Lena, User's sister, lives in Rome."]),
        ("My sister's name is Lena.", ["Lena is User's sister."]),
        ("My sister is called Lena.", ["Lena is User's sister."]),
        ("Lena is my sister.", ["Lena is User's sister."]),
        ("I have a brother named Jonas.", ["Jonas is User's brother."]),
        ("I have a cat named Miso.", ["Miso is User's cat."]),
        ("I have a cat, Miso.", ["Miso is User's cat."]),
        ("My best friend Jonas is a nurse.", ["Jonas, User's best friend, is a nurse."]),
        ("Meet Toby, my puppy!", ["Toby is User's puppy."]),
        ("I saw Anna Berg, my dentist.", ["User's dentist is Anna Berg.", "User saw Anna Berg."]),
        ("Mel, my dog is ill.", []),
        ("Thanks Mel, my friend!", []),
        ("I went out last Friday, my partner came.", ["User went out last Friday."]),
        ("My manager is Priya.", ["User's manager is Priya."]),
        ("My new manager is Farid.", ["User's manager is Farid."]),
        ("Farid is my new manager.", ["User's manager is Farid."]),
        ("My wife Ines works at Arrive.", ["User's wife is Ines.", "Ines works at Arrive."]),
        ("My manager works at Arrive.", ["User's manager works at Arrive."]),
        ("My parents live in Spain.", ["User's parents live in Spain."]),
        ("My older brother is a vet.", ["User's older brother is a vet."]),
        ("My dog is three years old.", ["User's dog is three years old."]),
        ("My kids love swimming.", ["User's kids love swimming."]),
        ("She works at Arrive.", ["She works at Arrive."]),
        ("He's a carpenter.", ["He is a carpenter."]),
        ("Priya doesn't like tea.", ["Priya does not like tea."]),
        ("Priya likes tea.", ["Priya likes tea."]),
        ("Painting is fun.", []),
        ("My partner gaming all night again.", []),
    ],
)
def test_people(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


def test_an_exclusive_role_belongs_to_the_speaker_so_that_a_new_holder_replaces_the_old() -> None:
    (found,) = said("My manager is Priya.")
    assert found.type is MemoryType.RELATION
    assert found.subject.is_speaker
    assert (found.predicate, found.stateful) == ("has_manager", True)
    assert found.object.entity is not None
    assert (found.object.entity.text, found.object.entity.type) == ("Priya", EntityType.PERSON)


def test_any_other_tie_belongs_to_the_one_who_is_named() -> None:
    (tie,) = said("My sister is called Lena.")
    assert (tie.subject.text, tie.predicate, tie.stateful) == ("Lena", "sister_of", False)
    assert tie.object.entity is not None
    assert tie.object.entity.is_speaker


def test_an_animal_is_an_animal() -> None:
    (tie,) = said("I have a cat named Miso.")
    assert tie.subject.type is EntityType.ANIMAL


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("I had lunch with my manager.", ["User's manager"]),
        ("I visited my sister Lena in Rome.", ["User's sister Lena"]),
        ("I met her at a concert.", ["her"]),
        ("I had lunch with a friend.", []),
    ],
)
def test_what_stays_to_be_resolved_is_listed(text: str, mentions: list[str]) -> None:
    found = said(text, speaker="User")[-1]
    assert [mention.text for mention in found.mentions] == mentions
    assert all(mention.text in found.content for mention in found.mentions)


def test_a_named_speaker_stands_in_the_sentence() -> None:
    assert contents("My sister Lena visited me last week.", speaker="Ana") == [
        "Lena, Ana's sister, visited Ana last week.",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My sister Uma is vegan.", ["Uma, User's sister, is vegan."]),
        ("My boss Uma loves tea.", ["User's boss is Uma.", "Uma loves tea."]),  # one boss at a time, compared as such
        ("My sister Uma can't eat nuts.", ["Uma is User's sister.", "Uma cannot eat nuts."]),  # a denial names nobody
    ],
)
def test_who_somebody_is_stands_in_what_is_said_of_them(text: str, expected: list[str]) -> None:
    assert contents(text) == expected
