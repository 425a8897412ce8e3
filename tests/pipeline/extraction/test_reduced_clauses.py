"""Clauses without "who": whose verb the last one is decides who has a condition."""

import pytest

from tests.pipeline.extraction.extract_helper import contents


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My cousin I grew up with has lupus.", ["User's cousin has lupus."]),
        ("The guy I'm seeing is diabetic.", []),
        ("The guy I met has asthma.", []),
        ("The guy I met was diabetic.", []),
        ("The boy I sat next to had measles.", []),
        ("The people I work with have covid.", []),
        ("The woman I love is allergic to cats.", []),
        ("The kids I teach have nut allergies.", []),
        ("I've a housemate who's coeliac.", ["User has a housemate who's coeliac."]),
        ("My kids I teach at home have asthma.", []),
        ("I cook for two kids, one coeliac and one allergic to nuts.", ["User cooks for two kids."]),
        ("My husband, God rest him, had Parkinson's.", ["User's husband had Parkinson's."]),
        ("My brother Tom's wife has asthma.", ["Tom is User's brother."]),
        ("My brother Tom's new wife has asthma.", ["Tom is User's brother."]),
        ("My brother Tom has asthma.", ["Tom, User's brother, has asthma."]),
        ("She's my boss.", []),
        ("I met Ana. She's my boss.", ["User met Ana.", "User's boss is Ana."]),
    ],
)
def test_it_is_told_of_whom_the_verb_is(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "I think I have asthma.",
        "I know it is asthma.",
        "I have always had asthma.",
        "I was told I have asthma.",
        "What I have is asthma.",
        "I has asthma.",
        "I take walks because of my asthma.",
        "I grew up with asthma.",
        "I'm the one who has asthma.",
        "I am a runner who has asthma.",
        "I do have asthma.",
        "I am on metformin and have asthma.",
        "We moved here, and I also have asthma.",
        "My wife and I run, have asthma.",
        "I'm 34, married, have asthma.",
        "I stopped running, have asthma.",
        "I am a person that has asthma.",
        "I'm breastfeeding & have asthma.",
    ],
)
def test_the_speakers_own_stay_the_speakers(text: str) -> None:
    assert [each for each in contents(text) if "asthma" in each and each.startswith("User ")]
