"""Whose a condition, medicine or diet is, and which are only supposed, tested for or denied."""

import pytest

from tests.pipeline.extraction.extract_helper import contents


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My guests: Ana (vegan), Bo (nut allergy) and Cy.", "Bo has nut allergy."),
        ("Leo (asthma, inhaler) and Mia (peanut allergy) come on Friday.", "Mia has peanut allergy."),
        ("Ana, like me, has asthma.", "Ana has asthma."),
        ("Grandad has Parkinson's and takes levodopa 100 mg.", "User's grandad takes levodopa 100 mg."),
        ("I thought I had asthma, but it was reflux.", "User has reflux."),
        ("I have asthma (mild).", "User has asthma."),
        ("I'm afraid I have diabetes.", "User has diabetes."),
    ],
)
def test_it_is_told_of_whom_it_is_said(text: str, expected: str) -> None:
    assert expected in contents(text)


@pytest.mark.parametrize(
    "text",
    [
        "Her dad has Alzheimer's and mine has Parkinson's.",
        "Your sister has asthma? Mine has diabetes.",
        "I thought I was lactose intolerant but I'm not.",
        "For years I thought I was allergic to penicillin.",
        "They tested me for coeliac, came back negative.",
        "I was misdiagnosed with lupus.",
        "It isn't gout.",
        "I grew out of my asthma.",
        "My doctor suspects I have fibromyalgia.",
        "I suspect I have ADHD.",
        "I'm thinking of going vegan.",
        "Ana, like me, has asthma.",
        "My guests: Ana (vegan), Bo (nut allergy) and Cy.",
    ],
)
def test_nothing_is_told_of_the_speaker(text: str) -> None:
    beginnings = ("User has", "User is allergic", "User is lactose", "User is vegan", "User takes")
    assert [each for each in contents(text) if each.startswith(beginnings)] == []
