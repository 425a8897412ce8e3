"""What is over, said in jest, or about a medicine that others take is no state of the speaker's health."""

import pytest

from tests.pipeline.extraction.extract_helper import contents


@pytest.mark.parametrize(
    "text",
    [
        "I'm allergic to my mother in law.",
        "I'm allergic to Mondays.",
        "I'm allergic to children.",
        "Gerald was allergic to being contradicted.",
        "I'm so OCD about my desk.",
        "I'm so ADHD today.",
        "When I was a kid I was allergic to eggs.",
    ],
)
def test_nothing_is_told(text: str) -> None:
    assert contents(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My ex was allergic to cats.", ["User's ex was allergic to cats."]),
        ("As a kid I was allergic to milk.", ["User was allergic to milk as a kid."]),
        ("I ordered 50mg sertraline for my wife.", ["User ordered 50mg sertraline for User's wife."]),
        ("I sell 500mg paracetamol.", ["User sells 500mg paracetamol."]),
        ("My whole family is kosher except me.", ["User's whole family is kosher except User."]),
    ],
)
def test_it_is_told_as_it_was_said(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("They found out I was allergic to latex.", "User is allergic to latex."),
        ("The doctor told me I was lactose intolerant.", "User is lactose intolerant."),
        ("I'm allergic to my husband's cat.", "User is allergic to User's husband's cat."),
        ("I'm on ADHD meds.", "User has ADHD."),
        ("I'm allergic to baby powder.", "User is allergic to baby powder."),
        ("No one in my family is coeliac except me.", "User is coeliac."),
        ("I warned them I was allergic to nuts.", "User is allergic to nuts."),
        ("I ordered 50 mg sertraline for my depression.", "User takes sertraline 50 mg."),
        ("I sold my car and now I take 20 mg citalopram.", "User takes citalopram 20 mg."),
        ("I have very bad IBS.", "User has IBS."),
        ("I've got sumatriptan for when it hits.", "User takes sumatriptan."),
        ("I got metformin 500 for my diabetes.", "User takes metformin 500."),
    ],
)
def test_what_lasts_is_told(text: str, expected: str) -> None:
    assert expected in contents(text)
